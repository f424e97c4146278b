import type { WorkflowHandle } from "@temporalio/client";
import type { AgentDefinitionInput } from "../../../src/schema/definition.ts";
import type { Entry, EventBody, LoopEvent } from "../../../src/schema/record.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import type { RecordedRequest } from "../../../src/testing/model-server/ledger.ts";
import type { ScriptedConversation } from "../../../src/testing/model-server/script.ts";
import { type TestAgentOptions, testAgent } from "../../../src/testing/test-agent.ts";
import type { StartRequest } from "../../../src/workflows/input.ts";
import type { agent } from "../../../src/workflows/loop.ts";
import { statusQuery } from "../../../src/workflows/messages.ts";
import type { RunResult } from "../../../src/workflows/result.ts";
import type { Stage } from "./temporal.ts";

export type SessionOptions = Pick<ScriptedConversation, "replies" | "faults"> & {
  readonly agent?: TestAgentOptions;
};

type Start = Omit<StartRequest, "definition"> & { readonly definition?: AgentDefinitionInput };

/** One session of one test: what it says to the agent, and what came of it. */
export class Session {
  readonly id: string;
  readonly definition: AgentDefinitionInput;
  readonly #stage: Stage;

  constructor(stage: Stage, id: string, { replies, faults, agent: options = {} }: SessionOptions) {
    this.#stage = stage;
    this.id = id;
    this.definition = testAgent(stage.model, {
      workspace: stage.home,
      ...options,
      model: { ...options.model, headers: { "x-conversation": id, ...options.model?.headers } },
    });
    stage.model.script({
      conversations: [
        {
          match: ({ conversation }) => conversation === id,
          ...(replies === undefined ? {} : { replies }),
          ...(faults === undefined ? {} : { faults }),
        },
      ],
    });
  }

  get handle(): WorkflowHandle<typeof agent> {
    return this.#stage.client.workflow.getHandle<typeof agent>(this.id);
  }

  /** Options of a start, for those that start in a way of their own. */
  starting(request: Start = {}) {
    const definition = "definitionHash" in request ? {} : { definition: this.definition };
    return {
      workflowId: this.id,
      taskQueue: this.#stage.taskQueue,
      workflowTaskTimeout: "5 seconds" as const,
      args: [{ ...definition, ...request } as StartRequest] as [StartRequest],
    };
  }

  async start(prompt?: string, request: Start = {}): Promise<WorkflowHandle> {
    const words = prompt === undefined ? {} : { prompt };
    return await this.#stage.client.workflow.start("agent", this.starting({ ...words, ...request }));
  }

  /** Starts a run and waits for its result. */
  async run(prompt: string, request: Start = {}): Promise<RunResult> {
    await this.start(prompt, request);
    return await this.result();
  }

  async result(): Promise<RunResult> {
    return await this.handle.result();
  }

  /** The failure of a run that must fail. */
  async failure(): Promise<{ type: string; message: string; result: RunResult | undefined }> {
    try {
      await this.result();
    } catch (error) {
      const { cause } = error as { cause?: { type: string; message: string; details?: [RunResult] } };
      if (cause === undefined) throw error;
      return { type: cause.type, message: cause.message, result: cause.details?.[0] };
    }
    throw new Error("the run did not fail");
  }

  status() {
    return this.handle.query(statusQuery);
  }

  /** Requests that reached the vendor, in order. */
  requests(): readonly RecordedRequest[] {
    return this.#stage.model.requests.filter(({ conversation }) => conversation === this.id);
  }

  waitForRequest(nth: number): Promise<RecordedRequest> {
    return eventually(() => this.requests()[nth], { what: `request ${nth} of ${this.id}`, everyMs: 5 });
  }

  /** What the model was told by its n-th request: `role: text`, message by message. */
  seen(nth: number): string[] {
    return spoken(this.requests()[nth]);
  }

  async entries(branch = "main"): Promise<readonly Entry[]> {
    return await this.#stage.transcript.entries(this.id, branch, 0, 10_000);
  }

  /** Every entry as `role: text`. */
  async conversation(): Promise<string[]> {
    return (await this.entries()).map(({ message }) =>
      message.role === "extension" ? "extension" : `${message.role}: ${textOf(message.content)}`,
    );
  }

  async events(loop = 0): Promise<readonly LoopEvent[]> {
    const record = (await this.#stage.transcript.loops(this.id))[loop];
    return record === undefined ? [] : await this.#stage.transcript.events(record.loopId, 0);
  }

  async eventTypes(loop = 0): Promise<EventBody["type"][]> {
    return (await this.events(loop)).map(({ body }) => body.type);
  }
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : [])).join("");
}

/** Messages of a request of Anthropic's protocol; a tool result is told by its text. */
export function spoken(request: RecordedRequest | undefined): string[] {
  const messages = (request?.body?.["messages"] ?? []) as { role: string; content: unknown }[];
  return messages.flatMap(({ role, content }) => blocks(content).map((block) => `${role}: ${block}`));
}

type Block = { type: string; text?: string; name?: string; content?: unknown };

function blocks(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return ((content ?? []) as Block[]).map((block) => {
    if (block.type === "tool_use") return `calls ${block.name}`;
    if (block.type === "tool_result") return blocks(block.content).join("");
    return block.text ?? block.type;
  });
}
