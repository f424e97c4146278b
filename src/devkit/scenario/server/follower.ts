import { setTimeout as sleep } from "node:timers/promises";
import type { Client, WorkflowHandle } from "@temporalio/client";
import type { Status } from "../../../core/machine/status.ts";
import type { Continuation } from "../../../schema/definition.ts";
import { eventually } from "../../../testing/eventually.ts";
import type { Answer } from "../../../testing/model-server/script.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import type { StartRequest } from "../../../workflows/input.ts";
import { statusQuery } from "../../../workflows/messages.ts";
import type { RunResult } from "../../../workflows/result.ts";
import { HookScript } from "../hooks.ts";
import { type ContinuedFrom, continuationAt, type RanCall, type ScheduleStep, type Sent } from "../played.ts";
import type { Deed, ScenarioHook } from "../schema.ts";
import { callerIn } from "../vendor.ts";
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
  readonly hooks: readonly ScenarioHook[];
  readonly schedule: readonly ScheduleStep[];
  /** The branch and the position that a run goes on from. */
  readonly placeOf: (continued: ContinuedFrom) => Promise<Continuation["at"]>;
  /** The session of the sub-agent that this call has started; waits for its first loop. */
  readonly sessionOf: (caller: string, call: string) => Promise<string>;
};

/** Where a follower's agent stands in its tree. */
type Kin = { readonly caller: Follower | undefined; readonly path: string };

const ROOT: Kin = { caller: undefined, path: "" };

function askerOf(path: string, firstUserText: string): string {
  return path === "" ? "" : `${path} ${firstUserText}`;
}

/**
 * Leads one session of the real stack through a schedule: vendor, tools and writes wait here until it is their turn,
 * and what arrives is sent in between.
 */
export class Follower {
  readonly ran: RanCall[] = [];
  continuedAsNew = 0;
  readonly refused: string[] = [];
  end: Pick<RunResult, "outcome" | "text"> = { outcome: { type: "delivered", messages: 0 } };
  readonly #request: RunRequest;
  readonly #asked: Meetings<string, Answer>;
  readonly #called: Meetings<string, Ending>;
  readonly #stored: Meetings<string, void>;
  /** Sessions of the tree whose worker has died. */
  readonly #bereft: Set<string>;
  readonly #children = new Map<string, Follower>();
  readonly #kin: Kin;
  readonly #held = new Meetings<string, void>();
  readonly #passed = new Map<string, number>();
  readonly #written = new Map<string, number>();
  readonly hooks: HookScript;
  /** Who has asked the vendor in this run's newest request. */
  #asker = "";
  #over = false;
  #firstRun: string | undefined;

  constructor(request: RunRequest, kin: Kin = ROOT) {
    this.#request = request;
    this.#kin = kin;
    const { caller } = kin;
    this.#asked = caller === undefined ? new Meetings() : caller.#asked;
    this.#called = caller === undefined ? new Meetings() : caller.#called;
    this.#stored = caller === undefined ? new Meetings() : caller.#stored;
    this.#bereft = caller === undefined ? new Set() : caller.#bereft;
    const written = () => [...this.#written.values()].reduce((sum, count) => sum + count, 0);
    this.hooks = new HookScript(request.hooks, { written });
  }

  // What the real stack calls.

  /** @param path - Of the agent that asks, in its tree; the runs of a sub-agent are told apart by what they show. */
  answer(path: string, firstUserText: string): Promise<Answer> {
    return this.#asked.wait(askerOf(path, firstUserText));
  }

  async execute(value: unknown, { toolCallId, toolName, signal, update }: ToolContext): Promise<string> {
    this.ran.push({ call: toolCallId, tool: toolName, arguments: value });
    const ending = await this.#called.wait(toolCallId);
    if (ending.type === "cancelled") return await endOf(signal);
    const { gives, fails, throws, hangs, shows = [], takesMs = 0 } = ending.deed;
    if (takesMs > 0) await sleep(takesMs);
    for (const text of shows) update(text);
    if (hangs === true) return await endOf(signal);
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

  /** Told of each write that a step has made, before the step goes on: a hook that it asks stands behind them. */
  wrote(loopId: string, events: readonly { readonly sequence: number }[]): void {
    const count = events.reduce((most, { sequence }) => Math.max(most, sequence + 1), 0);
    this.#written.set(loopId, Math.max(count, this.#written.get(loopId) ?? 0));
  }

  stored(call: string): void {
    void this.#stored.wait(call);
  }

  hasLostWorker(session: string): boolean {
    return this.#bereft.has(session);
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
        this.#asker = askerOf(this.#kin.path, step.firstUserText);
        return await this.#asked.come(this.#asker);
      case "answered": {
        const answer = vendorAnswer(step.reply, step.nth, callerIn(this.#kin.path));
        return this.#asked.answer(this.#asker, answer);
      }
      case "unanswered":
        return this.#asked.answer(this.#asker, NO_ANSWER);
      case "worker-lost":
        for (const call of step.calls) this.#called.answer(call, { type: "cancelled" });
        if (step.calls.length === 0) this.#asked.answer(this.#asker, NO_ANSWER);
        this.#bereft.add(this.#request.session);
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
        for (const call of step.quick) await this.#stored.come(call);
        if (step.left === 0 || step.quick.length > 0) return;
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
      case "child":
        return await (await this.#child(step)).#take(step.step);
      case "child-ended":
        if (step.left > 0) await this.#untilRunning(step.left);
        return;
      case "over":
        this.end = await this.#result();
        if (this.#rotates && this.#firstRun !== undefined) {
          const { client, session } = this.#request;
          this.continuedAsNew += await continuations(client, session, this.#firstRun);
          this.#firstRun = undefined;
        }
    }
  }

  async #child({ call, name }: Extract<ScheduleStep, { type: "child" }>): Promise<Follower> {
    const before = this.#children.get(call);
    if (before !== undefined) return before;
    const { sessionOf, session } = this.#request;
    const kin = { caller: this, path: `${this.#kin.path}/${name}` };
    const child = new Follower({ ...this.#request, session: await sessionOf(session, call), hooks: [] }, kin);
    this.#children.set(call, child);
    return child;
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

  async #result(): Promise<RunResult> {
    try {
      return (await this.#handle.result()) as RunResult;
    } catch (error) {
      const { cause } = error as { cause?: { details?: readonly RunResult[] } };
      const result = cause?.details?.[0];
      if (result === undefined) throw error;
      return result;
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
