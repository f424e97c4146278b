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
import { asList, asNumber, asObject, asText, type JsonObject } from "../../../../platform/text/json.ts";
import { omitUndefined } from "../../../../platform/text/omit-undefined.ts";
import type {
  ConnectionEvents,
  ElicitRequest,
  ElicitResult,
  McpConnection,
  RequestOptions,
  ServerInfo,
} from "../mcp-connection.ts";
import {
  listAllPages,
  toRemotePrompt,
  toRemoteResource,
  toRemoteResourceTemplate,
  toRemoteTool,
} from "./listings.ts";
import type { RequestTrackingTransport } from "./request-tracking-transport.ts";
import { toMcpError } from "./to-mcp-error.ts";

// All requests to the library pass through here. Holdfast enforces its own time limits through the caller's signal.

/** The longest time that the library's timers support. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const MAX_LOG_CHARS = 2048;

const AnyResult = z.looseObject({});

export type SdkConnectionOptions = {
  readonly version: string;
  readonly sampling: boolean;
  readonly elicitation: boolean;
  readonly events: ConnectionEvents;
  /** Describes how the server has exited; empty while it runs. */
  readonly describeExit: () => string;
};

/** Performs the handshake. Rejects with an `McpError`, and then leaves nothing open. */
export async function connectClient(
  transport: RequestTrackingTransport,
  options: SdkConnectionOptions,
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
  handleServerRequests(client, options);
  handleNotifications(client, options.events);
  try {
    await client.connect(transport, { signal, timeout: NO_TIMEOUT_MS });
  } catch (error) {
    const fault = toMcpError(error, options.describeExit());
    await transport.close().catch(() => {});
    throw fault;
  }
  return new SdkConnection(client, transport, options);
}

class SdkConnection implements McpConnection {
  readonly serverInfo: ServerInfo;
  readonly #client: Client;
  readonly #transport: RequestTrackingTransport;
  readonly #describeExit: () => string;

  constructor(
    client: Client,
    transport: RequestTrackingTransport,
    { events, describeExit }: SdkConnectionOptions,
  ) {
    this.#client = client;
    this.#transport = transport;
    this.#describeExit = describeExit;
    client.onclose = events.onClosed;
    const version = client.getServerVersion();
    const offers = client.getServerCapabilities();
    this.serverInfo = {
      name: version?.name ?? "",
      version: version?.version ?? "",
      protocolVersion: transport.protocolVersion,
      ...omitUndefined({ instructions: client.getInstructions() }),
      capabilities: {
        tools: offers?.tools !== undefined,
        resources: offers?.resources !== undefined,
        prompts: offers?.prompts !== undefined,
      },
    };
  }

  listTools = async (options: RequestOptions) =>
    await this.#list("tools/list", "tools", this.serverInfo.capabilities.tools, toRemoteTool, options);

  listResources = async (options: RequestOptions) =>
    await this.#list(
      "resources/list",
      "resources",
      this.serverInfo.capabilities.resources,
      toRemoteResource,
      options,
    );

  listResourceTemplates = async (options: RequestOptions) =>
    await this.#list(
      "resources/templates/list",
      "resourceTemplates",
      this.serverInfo.capabilities.resources,
      toRemoteResourceTemplate,
      options,
    );

  listPrompts = async (options: RequestOptions) =>
    await this.#list(
      "prompts/list",
      "prompts",
      this.serverInfo.capabilities.prompts,
      toRemotePrompt,
      options,
    );

  async callTool(name: string, parameters: JsonObject, options: RequestOptions): Promise<unknown> {
    const request = { method: "tools/call" as const, params: { name, arguments: { ...parameters } } };
    return await this.#convertErrors(this.#client.request(request, AnyResult, toSdkOptions(options)));
  }

  async readResource(uri: string, options: RequestOptions): Promise<unknown> {
    const request = { method: "resources/read" as const, params: { uri } };
    return await this.#convertErrors(this.#client.request(request, AnyResult, toSdkOptions(options)));
  }

  async close(): Promise<void> {
    this.#client.onclose = () => {};
    await this.#transport.close().catch(() => {});
  }

  async #list<Item>(
    method: Parameters<typeof listAllPages>[1],
    field: string,
    isSupported: boolean,
    read: (item: JsonObject) => Item | undefined,
    options: RequestOptions,
  ): Promise<readonly Item[]> {
    if (!isSupported) return [];
    const items = await this.#convertErrors(listAllPages(this.#client, method, field, toSdkOptions(options)));
    return items.flatMap((item) => read(item) ?? []);
  }

  async #convertErrors<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      throw toMcpError(error, this.#describeExit());
    }
  }
}

function toSdkOptions({ signal, onProgress }: RequestOptions): SdkOptions {
  return {
    signal,
    timeout: NO_TIMEOUT_MS,
    ...(onProgress === undefined
      ? {}
      : {
          onprogress: ({ progress, total, message }) =>
            onProgress({ progress, ...omitUndefined({ total: asNumber(total), message: asText(message) }) }),
        }),
  };
}

function handleNotifications(
  client: Client,
  { onListChanged, onLogMessage, onProtocolError }: ConnectionEvents,
): void {
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => onListChanged("tools"));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onListChanged("resources"));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => onListChanged("prompts"));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params: { data } }) =>
    onLogMessage((typeof data === "string" ? data : (JSON.stringify(data) ?? "")).slice(0, MAX_LOG_CHARS)),
  );
  client.onerror = (error) => onProtocolError(error.message.slice(0, MAX_LOG_CHARS));
}

function handleServerRequests(client: Client, { sampling, elicitation, events }: SdkConnectionOptions): void {
  if (elicitation) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) =>
      toElicitResponse(await events.elicit(toElicitRequest(params), signal)),
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
        "This agent's definition does not allow its servers to call a model (`sampling`)",
      );
    }
    throw new SdkError(ErrorCode.MethodNotFound, "Method not found");
  };
}

function toElicitRequest(params: object): ElicitRequest {
  const fields = params as JsonObject;
  const message = asText(fields["message"]) ?? "";
  const url = asText(fields["url"]);
  if (fields["mode"] === "url" && url !== undefined) return { type: "url", message, url };
  return { type: "form", message, schema: asObject(fields["requestedSchema"]) ?? { type: "object" } };
}

function toElicitResponse(answer: ElicitResult) {
  if (answer.type !== "accept") return { action: answer.type };
  const values = Object.entries(answer.values ?? {}).map(([name, value]) => [
    name,
    Array.isArray(value) ? asList(value).map(String) : value,
  ]);
  return { action: "accept" as const, content: Object.fromEntries(values) };
}
