import type { WorkflowHandle } from "@temporalio/client";
import type { AgentDefinitionInput } from "../../../src/schema/definition.ts";
import type { EventBody, LoopEvent } from "../../../src/schema/loop-event.ts";
import type { Entry } from "../../../src/schema/record.ts";
import type { RecordedRequest } from "../../../src/testing/model-server/ledger.ts";
import type { ScriptedConversation } from "../../../src/testing/model-server/script.ts";
import { createTestAgent, type TestAgentOptions } from "../../../src/testing/test-agent.ts";
import type { agent } from "../../../src/workflows/agent.ts";
import { statusQuery } from "../../../src/workflows/messages.ts";
import type { StartRequest } from "../../../src/workflows/run-input.ts";
import type { RunResult } from "../../../src/workflows/run-result.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestEnvironment } from "./test-environment.ts";

export type SessionOptions = Pick<ScriptedConversation, "replies" | "faults"> & {
  readonly agent?: TestAgentOptions;
};

type Start = Omit<StartRequest, "definition"> & { readonly definition?: AgentDefinitionInput };

/** One session of one test: what it sends to the agent, and the outcome. */
export class TestSession {
  readonly id: string;
  readonly definition: AgentDefinitionInput;
  readonly #stage: TestEnvironment;

  constructor(stage: TestEnvironment, id: string, { replies, faults, agent: options = {} }: SessionOptions) {
    this.#stage = stage;
    this.id = id;
    this.definition = createTestAgent(stage.model, {
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

  /** Options of a start, for tests that start in a way of their own. */
  createStartRequest(request: Start = {}) {
    const definition = "definitionHash" in request ? {} : { definition: this.definition };
    return {
      workflowId: this.id,
      taskQueue: this.#stage.taskQueue,
      workflowTaskTimeout: "5 seconds" as const,
      args: [{ ...definition, ...request } as StartRequest] as [StartRequest],
    };
  }

  async start(prompt?: string, request: Start = {}): Promise<WorkflowHandle> {
    const promptField = prompt === undefined ? {} : { prompt };
    return await this.#stage.client.workflow.start(
      "agent",
      this.createStartRequest({ ...promptField, ...request }),
    );
  }

  /** Starts a run and waits for its result. */
  async run(prompt: string, request: Start = {}): Promise<RunResult> {
    await this.start(prompt, request);
    return await this.readResult();
  }

  async readResult(): Promise<RunResult> {
    return await this.handle.result();
  }

  /** The failure of a run that must fail. */
  async readFailure(): Promise<{ type: string; message: string; readResult: RunResult | undefined }> {
    try {
      await this.readResult();
    } catch (error) {
      const { cause } = error as { cause?: { type: string; message: string; details?: [RunResult] } };
      if (cause === undefined) throw error;
      return { type: cause.type, message: cause.message, readResult: cause.details?.[0] };
    }
    throw new Error("the run did not fail");
  }

  readStatus() {
    return this.handle.query(statusQuery);
  }

  /** Requests that reached the vendor, in order. */
  listRequests(): readonly RecordedRequest[] {
    return this.#stage.model.requests.filter(({ conversation }) => conversation === this.id);
  }

  waitForRequest(nth: number): Promise<RecordedRequest> {
    return eventually(() => this.listRequests()[nth], { what: `request ${nth} of ${this.id}`, everyMs: 5 });
  }

  /** The messages of the n-th request to the model: `role: text`, one after the other. */
  listSeenMessages(nth: number): string[] {
    return listRequestMessages(this.listRequests()[nth]);
  }

  async readEntries(branch = "main"): Promise<readonly Entry[]> {
    return await this.#stage.transcript.readEntries(this.id, branch, 0, 10_000);
  }

  /** Every entry as `role: text`. */
  async readConversation(): Promise<string[]> {
    return (await this.readEntries()).map(({ message }) =>
      message.role === "extension" ? "extension" : `${message.role}: ${getText(message.content)}`,
    );
  }

  async readEvents(loop = 0): Promise<readonly LoopEvent[]> {
    const record = (await this.#stage.transcript.readLoops(this.id))[loop];
    return record === undefined ? [] : await this.#stage.transcript.readEvents(record.loopId, 0);
  }

  async readEventTypes(loop = 0): Promise<EventBody["type"][]> {
    return (await this.readEvents(loop)).map(({ body }) => body.type);
  }
}

function getText(content: readonly { type: string; text?: string }[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : [])).join("");
}

/** Messages of a request of Anthropic's protocol; a tool result is represented by its text. */
export function listRequestMessages(request: RecordedRequest | undefined): string[] {
  const messages = (request?.body?.["messages"] ?? []) as { role: string; content: unknown }[];
  return messages.flatMap(({ role, content }) => formatBlocks(content).map((block) => `${role}: ${block}`));
}

type Block = { type: string; text?: string; name?: string; content?: unknown };

function formatBlocks(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return ((content ?? []) as Block[]).map((block) => {
    if (block.type === "tool_use") return `calls ${block.name}`;
    if (block.type === "tool_result") return formatBlocks(block.content).join("");
    return block.text ?? block.type;
  });
}
