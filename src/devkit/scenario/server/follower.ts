import { setTimeout as sleep } from "node:timers/promises";
import type { Client, WorkflowHandle } from "@temporalio/client";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../../schema/continuation.ts";
import type { Answer } from "../../../testing/model-server/script.ts";
import type { ToolContext, ToolOutput } from "../../../tools/tool-execution.ts";
import type { StartRequest } from "../../../workflows/run-input.ts";
import type { RunResult } from "../../../workflows/run-result.ts";
import { HookScript } from "../hook-script.ts";
import { getCallerId } from "../in-process-vendor.ts";
import {
  buildContinuation,
  type ContinuedFrom,
  type RanCall,
  type ScheduleStep,
  type SentArrival,
} from "../play-result.ts";
import { buildOutput } from "../scenario-tool.ts";
import type { Deed, ScenarioHook } from "../schema.ts";
import { readResult, waitForBackOff, waitForStatus } from "./observed-run.ts";
import { Rendezvous } from "./rendezvous.ts";
import { countContinuations, LONG_HISTORY, lengthenHistory } from "./rotation.ts";
import { sendArrival, toSignal } from "./send-arrival.ts";
import { withStepTimeout } from "./step-timeout.ts";
import { buildVendorAnswer, NO_ANSWER } from "./vendor-answer.ts";
import { failPendingActivities } from "./worker-death.ts";

type CallEnding = { readonly type: "deed"; readonly deed: Deed } | { readonly type: "cancelled" };

export type RunRequest = {
  readonly client: Client;
  readonly session: string;
  readonly taskQueue: string;
  readonly definition: NonNullable<StartRequest["definition"]>;
  readonly idleTimeoutMs: number | undefined;
  readonly hooks: readonly ScenarioHook[];
  readonly schedule: readonly ScheduleStep[];
  /** Finds the branch and the position from which a run continues. */
  readonly findPosition: (continued: ContinuedFrom) => Promise<Continuation["at"]>;
  /** Finds the session of the sub-agent that this call started; waits for its first loop. */
  readonly findSession: (caller: string, call: string) => Promise<string>;
};

/** The position of a follower's agent in its tree. */
type TreePosition = { readonly caller: Follower | undefined; readonly path: string };

const ROOT: TreePosition = { caller: undefined, path: "" };

function formatRequester(path: string, firstUserText: string): string {
  return path === "" ? "" : `${path} ${firstUserText}`;
}

/**
 * Drives one session of the real stack through a schedule: vendor, tools and writes wait here for their turn, and the
 * follower sends the arrivals in between.
 */
export class Follower {
  readonly ran: RanCall[] = [];
  continuedAsNew = 0;
  readonly refused: string[] = [];
  result: Pick<RunResult, "outcome" | "text"> = { outcome: { type: "delivered", messages: 0 } };
  readonly #request: RunRequest;
  readonly #requests: Rendezvous<string, Answer>;
  readonly #calls: Rendezvous<string, CallEnding>;
  readonly #storedResults: Rendezvous<string, void>;
  /** The sessions of the tree whose worker died. */
  readonly #lostWorkers: Set<string>;
  readonly #children = new Map<string, Follower>();
  readonly #treePosition: TreePosition;
  readonly #heldWrites = new Rendezvous<string, void>();
  readonly #writeCounts = new Map<string, number>();
  readonly #eventCounts = new Map<string, number>();
  readonly hooks: HookScript;
  /** The sender of this run's newest request to the vendor. */
  #requester = "";
  #isOver = false;
  #firstRun: string | undefined;

  constructor(request: RunRequest, kin: TreePosition = ROOT) {
    this.#request = request;
    this.#treePosition = kin;
    const { caller } = kin;
    this.#requests = caller === undefined ? new Rendezvous() : caller.#requests;
    this.#calls = caller === undefined ? new Rendezvous() : caller.#calls;
    this.#storedResults = caller === undefined ? new Rendezvous() : caller.#storedResults;
    this.#lostWorkers = caller === undefined ? new Set() : caller.#lostWorkers;
    const written = () => [...this.#eventCounts.values()].reduce((sum, count) => sum + count, 0);
    this.hooks = new HookScript(request.hooks, { countEvents: written });
  }

  // Functions that the real stack calls.

  /** @param path - The path of the requesting agent in its tree; the first user text distinguishes runs of a sub-agent. */
  answer(path: string, firstUserText: string): Promise<Answer> {
    return this.#requests.wait(formatRequester(path, firstUserText));
  }

  async execute(
    value: unknown,
    { toolCallId, toolName, signal, onUpdate }: ToolContext,
  ): Promise<ToolOutput> {
    this.ran.push({ call: toolCallId, tool: toolName, arguments: value });
    const ending = await this.#calls.wait(toolCallId);
    if (ending.type === "cancelled") return await waitForAbort(signal);
    const { gives, fails, throws, hangs, shows = [], takesMs = 0 } = ending.deed;
    if (takesMs > 0) await sleep(takesMs);
    for (const text of shows) onUpdate(text);
    if (hangs === true) return await waitForAbort(signal);
    if (gives !== undefined) return buildOutput(gives, ending.deed);
    throw new Error(fails ?? throws);
  }

  async waitForWrite(step: "open" | "close"): Promise<void> {
    const nth = this.#writeCounts.get(step) ?? 0;
    this.#writeCounts.set(step, nth + 1);
    const key = `${step} ${nth}`;
    const isHeld = this.#request.schedule.some(
      (one) => one.type === "held" && one.step === step && one.nth === nth,
    );
    if (isHeld && !this.#isOver) await this.#heldWrites.wait(key);
  }

  /** Called for each write of a step before the step continues: a hook that the step calls comes after these events. */
  recordEvents(loopId: string, events: readonly { readonly sequence: number }[]): void {
    const count = events.reduce((most, { sequence }) => Math.max(most, sequence + 1), 0);
    this.#eventCounts.set(loopId, Math.max(count, this.#eventCounts.get(loopId) ?? 0));
  }

  confirmStored(call: string): void {
    void this.#storedResults.wait(call);
  }

  hasLostWorker(session: string): boolean {
    return this.#lostWorkers.has(session);
  }

  // The schedule.

  async follow(): Promise<void> {
    try {
      for (const [at, step] of this.#request.schedule.entries()) {
        await withStepTimeout(this.#takeStep(step), `step ${at} (${JSON.stringify(step)})`);
      }
    } finally {
      this.#isOver = true;
    }
  }

  async #takeStep(step: ScheduleStep): Promise<void> {
    switch (step.type) {
      case "start":
        return await this.#start(step);
      case "held":
        await this.#heldWrites.waitForWaiter(`${step.step} ${step.nth}`);
        return;
      case "let-go":
        return this.#heldWrites.answer(`${step.step} ${step.nth}`, undefined);
      case "asked":
        this.#requester = formatRequester(this.#treePosition.path, step.firstUserText);
        return await this.#requests.waitForWaiter(this.#requester);
      case "answered": {
        const answer = buildVendorAnswer(step.reply, step.nth, getCallerId(this.#treePosition.path));
        return this.#requests.answer(this.#requester, answer);
      }
      case "unanswered":
        return this.#requests.answer(this.#requester, NO_ANSWER);
      case "worker-lost":
        for (const call of step.calls) this.#calls.answer(call, { type: "cancelled" });
        if (step.calls.length === 0) this.#requests.answer(this.#requester, NO_ANSWER);
        this.#lostWorkers.add(this.#request.session);
        return await failPendingActivities(this.#request.client, this.#request.session, step.asked ?? 1);
      case "backs-off":
        return await waitForBackOff(this.#getHandle, step.attempt);
      case "called":
        await Promise.all(step.calls.map((call) => this.#calls.waitForWaiter(call)));
        return;
      case "ended":
        this.#calls.answer(step.call, { type: "deed", deed: step.deed });
        if (step.left === 0) return;
        if (step.quick) return await this.#storedResults.waitForWaiter(step.call);
        return await this.#waitForRunning(step.left);
      case "unrun":
        for (const call of step.quick) await this.#storedResults.waitForWaiter(call);
        if (step.left === 0 || step.quick.length > 0) return;
        return await this.#waitForRunning(step.left);
      case "cancelled":
        this.#calls.answer(step.call, { type: "cancelled" });
        if (step.left > 0) await this.#waitForRunning(step.left);
        return;
      case "arrives":
        return await this.#sendArrival(step.sent);
      case "waits":
        return await waitForStatus(this.#getHandle, ({ status }) => status === "waiting", "the wait");
      case "asks-people":
        return await waitForStatus(
          this.#getHandle,
          ({ status, running }) => status === "needs-approval" && running.length === 0,
          "the question to the user",
        );
      case "child":
        return await (await this.#getChild(step)).#takeStep(step.step);
      case "child-ended":
        if (step.left > 0) await this.#waitForRunning(step.left);
        return;
      case "over":
        this.result = await readResult(this.#getHandle);
        if (this.#isRotating && this.#firstRun !== undefined) {
          const { client, session } = this.#request;
          this.continuedAsNew += await countContinuations(client, session, this.#firstRun);
          this.#firstRun = undefined;
        }
    }
  }

  async #getChild({ call, name }: Extract<ScheduleStep, { type: "child" }>): Promise<Follower> {
    const before = this.#children.get(call);
    if (before !== undefined) return before;
    const { findSession: sessionOf, session } = this.#request;
    const kin = { caller: this, path: `${this.#treePosition.path}/${name}` };
    const child = new Follower({ ...this.#request, session: await sessionOf(session, call), hooks: [] }, kin);
    this.#children.set(call, child);
    return child;
  }

  get #getHandle(): WorkflowHandle {
    return this.#request.client.workflow.getHandle(this.#request.session);
  }

  async #start(step: Extract<ScheduleStep, { type: "start" }>): Promise<void> {
    const { prompt, mode, with: first, continued } = step;
    const { client, session, taskQueue, definition, idleTimeoutMs, findPosition: placeOf } = this.#request;
    const request: StartRequest = {
      definition,
      mode,
      ...omitUndefined({ idleTimeoutMs, prompt }),
      ...(continued === undefined
        ? {}
        : { continuation: buildContinuation(continued, await placeOf(continued)) }),
      ...(this.#isRotating ? { settings: { rotateAfterEvents: LONG_HISTORY } } : {}),
    };
    const options = { workflowId: session, taskQueue, args: [request] };
    if (first === undefined) {
      this.#firstRun = (await client.workflow.start("agent", options)).firstExecutionRunId;
      return;
    }
    const { name, args } = toSignal(first);
    await client.workflow.signalWithStart("agent", { ...options, signal: name, signalArgs: args });
  }

  get #isRotating(): boolean {
    return this.#request.schedule.some((step) => step.type === "arrives" && step.sent.do === "continueAsNew");
  }

  async #sendArrival(sent: SentArrival): Promise<void> {
    if (sent.do === "crash") return;
    if (sent.do === "continueAsNew") return await lengthenHistory(this.#getHandle);
    const refusal = await sendArrival(this.#getHandle, sent);
    if (refusal !== undefined) this.refused.push(refusal);
  }

  #waitForRunning(count: number): Promise<void> {
    return waitForStatus(
      this.#getHandle,
      ({ running }) => running.length === count,
      `${count} running calls`,
    );
  }
}

/** Rejects when the signal aborts, which is the only action of a hanging tool. */
function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error("ended"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
