import { setTimeout as sleep } from "node:timers/promises";
import type { Client, WorkflowHandle } from "@temporalio/client";
import type { Status } from "../../../core/status.ts";
import type { Continuation } from "../../../schema/definition.ts";
import type { Outcome } from "../../../schema/record.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import type { StartRequest } from "../../../workflows/input.ts";
import { statusQuery } from "../../../workflows/messages.ts";
import type { RunResult } from "../../../workflows/result.ts";
import { eventually } from "../../eventually.ts";
import type { Answer } from "../../model-server/script.ts";
import { type ContinuedFrom, continuationAt, type RanCall, type ScheduleStep, type Sent } from "../played.ts";
import type { Deed } from "../schema.ts";
import { Meetings } from "./meetings.ts";
import { continuations, LONG_HISTORY, lengthenHistory } from "./rotation.ts";
import { send, signalOf } from "./send.ts";
import { NO_ANSWER, vendorAnswer } from "./vendor-answer.ts";
import { STEP_TIMEOUT_MS, within } from "./within.ts";
import { loseActivities } from "./worker-death.ts";

type Ending = { readonly type: "deed"; readonly deed: Deed } | { readonly type: "cancelled" };

export type RunRequest = {
  readonly client: Client;
  readonly session: string;
  readonly taskQueue: string;
  readonly definition: NonNullable<StartRequest["definition"]>;
  readonly idleTimeoutMs: number | undefined;
  readonly schedule: readonly ScheduleStep[];
  /** The branch and the position that a run goes on from. */
  readonly placeOf: (continued: ContinuedFrom) => Promise<Continuation["at"]>;
};

/**
 * Leads one session of the real stack through a schedule: vendor, tools and writes wait here until it is their turn,
 * and what arrives is sent in between.
 */
export class Follower {
  readonly ran: RanCall[] = [];
  continuedAsNew = 0;
  readonly refused: string[] = [];
  outcome: Outcome = { type: "delivered", messages: 0 };
  readonly #request: RunRequest;
  readonly #asked = new Meetings<undefined, Answer>();
  readonly #called = new Meetings<string, Ending>();
  readonly #stored = new Meetings<string, void>();
  readonly #held = new Meetings<string, void>();
  readonly #passed = new Map<string, number>();
  #over = false;
  #firstRun: string | undefined;

  constructor(request: RunRequest) {
    this.#request = request;
  }

  // What the real stack calls.

  answer(): Promise<Answer> {
    return this.#asked.wait(undefined);
  }

  async execute(value: unknown, { toolCallId, toolName, signal }: ToolContext): Promise<string> {
    this.ran.push({ call: toolCallId, tool: toolName, arguments: value });
    const ending = await this.#called.wait(toolCallId);
    if (ending.type === "cancelled" || ending.deed.hangs === true) return await endOf(signal);
    const { gives, fails, throws, takesMs = 0 } = ending.deed;
    if (takesMs > 0) await sleep(takesMs);
    if (gives !== undefined) return gives;
    throw new Error(fails ?? throws);
  }

  async write(step: "open" | "close"): Promise<void> {
    const nth = this.#passed.get(step) ?? 0;
    this.#passed.set(step, nth + 1);
    const key = `${step} ${nth}`;
    const held = this.#request.schedule.some(
      (one) => one.type === "held" && one.step === step && one.nth === nth,
    );
    if (held && !this.#over) await this.#held.wait(key);
  }

  stored(call: string): void {
    void this.#stored.wait(call);
  }

  // The schedule.

  async follow(): Promise<void> {
    try {
      for (const [at, step] of this.#request.schedule.entries()) {
        await within(this.#take(step), `step ${at} (${JSON.stringify(step)})`);
      }
    } finally {
      this.#over = true;
    }
  }

  async #take(step: ScheduleStep): Promise<void> {
    switch (step.type) {
      case "start":
        return await this.#start(step);
      case "held":
        await this.#held.come(`${step.step} ${step.nth}`);
        return;
      case "let-go":
        return this.#held.answer(`${step.step} ${step.nth}`, undefined);
      case "asked":
        return await this.#asked.come(undefined);
      case "answered":
        return this.#asked.answer(undefined, vendorAnswer(step.reply, step.nth));
      case "unanswered":
        return this.#asked.answer(undefined, NO_ANSWER);
      case "worker-lost":
        for (const call of step.calls) this.#called.answer(call, { type: "cancelled" });
        if (step.calls.length === 0) this.#asked.answer(undefined, NO_ANSWER);
        return await loseActivities(this.#request.client, this.#request.session, step.asked ?? 1);
      case "backs-off":
        return await this.#backsOff(step.attempt);
      case "called":
        await Promise.all(step.calls.map((call) => this.#called.come(call)));
        return;
      case "ended":
        this.#called.answer(step.call, { type: "deed", deed: step.deed });
        if (step.left === 0) return;
        if (step.quick) return await this.#stored.come(step.call);
        return await this.#untilRunning(step.left);
      case "unrun":
        return await this.#untilRunning(step.left);
      case "cancelled":
        this.#called.answer(step.call, { type: "cancelled" });
        if (step.left > 0) await this.#untilRunning(step.left);
        return;
      case "arrives":
        return await this.#arrives(step.sent);
      case "waits":
        return await this.#until(({ status }) => status === "waiting", "the wait");
      case "asks-people":
        return await this.#until(
          ({ status, running }) => status === "needs-approval" && running.length === 0,
          "the question to a person",
        );
      case "over":
        this.outcome = await this.#result();
        if (this.#rotates && this.#firstRun !== undefined) {
          const { client, session } = this.#request;
          this.continuedAsNew += await continuations(client, session, this.#firstRun);
          this.#firstRun = undefined;
        }
    }
  }

  get #handle(): WorkflowHandle {
    return this.#request.client.workflow.getHandle(this.#request.session);
  }

  async #start(step: Extract<ScheduleStep, { type: "start" }>): Promise<void> {
    const { prompt, mode, with: first, continued } = step;
    const { client, session, taskQueue, definition, idleTimeoutMs, placeOf } = this.#request;
    const request: StartRequest = {
      definition,
      mode,
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(continued === undefined
        ? {}
        : { continuation: continuationAt(continued, await placeOf(continued)) }),
      ...(this.#rotates ? { settings: { rotateAfterEvents: LONG_HISTORY } } : {}),
    };
    const options = { workflowId: session, taskQueue, args: [request] };
    if (first === undefined) {
      this.#firstRun = (await client.workflow.start("agent", options)).firstExecutionRunId;
      return;
    }
    const { name, args } = signalOf(first);
    await client.workflow.signalWithStart("agent", { ...options, signal: name, signalArgs: args });
  }

  get #rotates(): boolean {
    return this.#request.schedule.some((step) => step.type === "arrives" && step.sent.do === "continueAsNew");
  }

  async #arrives(sent: Sent): Promise<void> {
    if (sent.do === "crash") return;
    if (sent.do === "continueAsNew") return await lengthenHistory(this.#handle);
    const refusal = await send(this.#handle, sent);
    if (refusal !== undefined) this.refused.push(refusal);
  }

  async #until(is: (status: Status) => boolean, what: string): Promise<void> {
    await eventually(async () => is(await this.#handle.query(statusQuery)), {
      timeoutMs: STEP_TIMEOUT_MS,
      everyMs: 5,
      what,
    });
  }

  async #backsOff(attempt: number): Promise<void> {
    await eventually(
      async () => {
        const { raw } = await this.#handle.describe();
        return raw.pendingActivities?.some((activity) => activity.attempt === attempt + 1);
      },
      { timeoutMs: STEP_TIMEOUT_MS, what: "the wait between two attempts" },
    );
  }

  #untilRunning(count: number): Promise<void> {
    return this.#until(({ running }) => running.length === count, `${count} running calls`);
  }

  async #result(): Promise<Outcome> {
    try {
      return ((await this.#handle.result()) as RunResult).outcome;
    } catch (error) {
      const { cause } = error as { cause?: { details?: readonly RunResult[] } };
      const outcome = cause?.details?.[0]?.outcome;
      if (outcome === undefined) throw error;
      return outcome;
    }
  }
}

/** Rejects when the signal says so, which is all that a tool which hangs does. */
function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error("ended"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
