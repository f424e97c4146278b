import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions as SdkOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ErrorCode,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  McpError as SdkError,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type {
  Answer,
  ConnectionEvents,
  McpConnection,
  Question,
  RequestOptions,
  ServerFacts,
} from "../connection.ts";
import { type Json, listOf, numberOf, objectOf, present, textOf } from "../json.ts";
import type { CarefulTransport } from "./careful-transport.ts";
import { faultOf } from "./fault.ts";
import { listed, promptOf, resourceOf, templateOf, toolOf } from "./listings.ts";

// The one place where requests go through the library. Time limits are ours: whoever asks brings a signal.

/** As long as the library's timers can be set. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const MAX_SAID_CHARS = 2048;

const Anything = z.looseObject({});

export type ClientOptions = {
  readonly version: string;
  readonly sampling: boolean;
  readonly elicitation: boolean;
  readonly events: ConnectionEvents;
  /** How the server has ended; empty while it has not. */
  readonly how: () => string;
};

/** Shakes hands. Rejects with an `McpError`, and then nothing is left open. */
export async function connected(
  transport: CarefulTransport,
  options: ClientOptions,
  { signal }: RequestOptions,
): Promise<McpConnection> {
  const client = new Client(
    { name: "holdfast", version: options.version },
    {
      capabilities: {
        ...(options.elicitation ? { elicitation: { form: { applyDefaults: true }, url: {} } } : {}),
        ...(options.sampling ? { sampling: {} } : {}),
      },
      enforceStrictCapabilities: false,
    },
  );
  answerQuestions(client, options);
  hear(client, options.events);
  try {
    await client.connect(transport, { signal, timeout: NO_TIMEOUT_MS });
  } catch (error) {
    const fault = faultOf(error, options.how());
    await transport.close().catch(() => {});
    throw fault;
  }
  return new SdkConnection(client, transport, options);
}

class SdkConnection implements McpConnection {
  readonly facts: ServerFacts;
  readonly #client: Client;
  readonly #transport: CarefulTransport;
  readonly #how: () => string;

  constructor(client: Client, transport: CarefulTransport, { events, how }: ClientOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#how = how;
    client.onclose = events.closed;
    const version = client.getServerVersion();
    const offers = client.getServerCapabilities();
    this.facts = {
      name: version?.name ?? "",
      version: version?.version ?? "",
      protocolVersion: transport.protocolVersion,
      ...present({ instructions: client.getInstructions() }),
      offers: {
        tools: offers?.tools !== undefined,
        resources: offers?.resources !== undefined,
        prompts: offers?.prompts !== undefined,
      },
    };
  }

  listTools = async (options: RequestOptions) =>
    await this.#list("tools/list", "tools", this.facts.offers.tools, toolOf, options);

  listResources = async (options: RequestOptions) =>
    await this.#list("resources/list", "resources", this.facts.offers.resources, resourceOf, options);

  listTemplates = async (options: RequestOptions) =>
    await this.#list(
      "resources/templates/list",
      "resourceTemplates",
      this.facts.offers.resources,
      templateOf,
      options,
    );

  listPrompts = async (options: RequestOptions) =>
    await this.#list("prompts/list", "prompts", this.facts.offers.prompts, promptOf, options);

  async callTool(name: string, parameters: Json, options: RequestOptions): Promise<unknown> {
    const request = { method: "tools/call" as const, params: { name, arguments: { ...parameters } } };
    return await this.#guarded(this.#client.request(request, Anything, sdkOptions(options)));
  }

  async readResource(uri: string, options: RequestOptions): Promise<unknown> {
    const request = { method: "resources/read" as const, params: { uri } };
    return await this.#guarded(this.#client.request(request, Anything, sdkOptions(options)));
  }

  async close(): Promise<void> {
    this.#client.onclose = () => {};
    await this.#transport.close().catch(() => {});
  }

  async #list<Item>(
    method: Parameters<typeof listed>[1],
    field: string,
    offered: boolean,
    read: (item: Json) => Item | undefined,
    options: RequestOptions,
  ): Promise<readonly Item[]> {
    if (!offered) return [];
    const items = await this.#guarded(listed(this.#client, method, field, sdkOptions(options)));
    return items.flatMap((item) => read(item) ?? []);
  }

  async #guarded<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      throw faultOf(error, this.#how());
    }
  }
}

function sdkOptions({ signal, onProgress }: RequestOptions): SdkOptions {
  return {
    signal,
    timeout: NO_TIMEOUT_MS,
    ...(onProgress === undefined
      ? {}
      : {
          onprogress: ({ progress, total, message }) =>
            onProgress({ progress, ...present({ total: numberOf(total), message: textOf(message) }) }),
        }),
  };
}

function hear(client: Client, { listChanged, said, odd }: ConnectionEvents): void {
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => listChanged("tools"));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => listChanged("resources"));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => listChanged("prompts"));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params: { data } }) =>
    said((typeof data === "string" ? data : (JSON.stringify(data) ?? "")).slice(0, MAX_SAID_CHARS)),
  );
  client.onerror = (error) => odd(error.message.slice(0, MAX_SAID_CHARS));
}

function answerQuestions(client: Client, { sampling, elicitation, events }: ClientOptions): void {
  if (elicitation) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) =>
      said(await events.ask(questionOf(params), signal)),
    );
  }
  if (sampling) {
    client.setRequestHandler(
      CreateMessageRequestSchema,
      async ({ params }, { signal }) => (await events.sample({ ...params }, signal)) as never,
    );
  }
  client.fallbackRequestHandler = async ({ method }) => {
    if (method === "sampling/createMessage") {
      throw new SdkError(
        -1,
        "This agent's definition does not allow its servers to ask a model (`sampling`)",
      );
    }
    throw new SdkError(ErrorCode.MethodNotFound, "Method not found");
  };
}

function questionOf(params: object): Question {
  const fields = params as Json;
  const message = textOf(fields["message"]) ?? "";
  const url = textOf(fields["url"]);
  if (fields["mode"] === "url" && url !== undefined) return { type: "url", message, url };
  return { type: "form", message, schema: objectOf(fields["requestedSchema"]) ?? { type: "object" } };
}

function said(answer: Answer) {
  if (answer.type !== "accept") return { action: answer.type };
  const values = Object.entries(answer.values ?? {}).map(([name, value]) => [
    name,
    Array.isArray(value) ? listOf(value).map(String) : value,
  ]);
  return { action: "accept" as const, content: Object.fromEntries(values) };
}
