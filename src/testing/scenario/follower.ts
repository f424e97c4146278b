import { setTimeout as sleep } from "node:timers/promises";
import type { Client, WorkflowHandle } from "@temporalio/client";
import type { Outcome } from "../../schema/record.ts";
import type { ToolContext } from "../../tools/tool.ts";
import type { StartRequest } from "../../workflows/input.ts";
import {
  clearQueuesSignal,
  followUpSignal,
  promptUpdate,
  queueModeSignal,
  statusQuery,
  steerSignal,
  stopSignal,
} from "../../workflows/messages.ts";
import type { RunResult } from "../../workflows/result.ts";
import { eventually } from "../eventually.ts";
import type { Answer } from "../model-server/script.ts";
import type { ScheduleStep, Sent } from "./played.ts";
import type { Deed, ScenarioReply } from "./schema.ts";
import { httpFailure, wireReply } from "./vendor.ts";

/** How long the real stack may take to come to the next step. */
const STEP_TIMEOUT_MS = 20_000;

type Ending = { readonly type: "deed"; readonly deed: Deed } | { readonly type: "cancelled" };

export type RunRequest = {
  readonly client: Client;
  readonly session: string;
  readonly taskQueue: string;
  readonly definition: NonNullable<StartRequest["definition"]>;
  readonly idleTimeoutMs: number | undefined;
  readonly schedule: readonly ScheduleStep[];
};

/**
 * Leads one session of the real stack through a schedule: vendor, tools and writes wait here until it is their turn,
 * and what arrives is sent in between.
 */
export class Follower {
  readonly executed: string[] = [];
  readonly refused: string[] = [];
  outcome: Outcome = { type: "delivered", messages: 0 };
  readonly #request: RunRequest;
  readonly #asked = new Meetings<undefined, Answer>();
  readonly #called = new Meetings<string, Ending>();
  readonly #stored = new Meetings<string, void>();
  readonly #held = new Meetings<string, void>();
  readonly #passed = new Map<string, number>();
  #over = false;

  constructor(request: RunRequest) {
    this.#request = request;
  }

  // What the real stack calls.

  answer(): Promise<Answer> {
    return this.#asked.wait(undefined);
  }

  async execute({ toolCallId, signal }: ToolContext): Promise<string> {
    this.executed.push(toolCallId);
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
        return this.#asked.answer(undefined, { text: "never", holdUntil: "never", holdAt: "head" });
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
      case "cancelled":
        this.#called.answer(step.call, { type: "cancelled" });
        if (step.left > 0) await this.#untilRunning(step.left);
        return;
      case "arrives":
        return await this.#send(step.sent);
      case "waits":
        await eventually(async () => (await this.#handle.query(statusQuery)).status === "waiting", {
          timeoutMs: STEP_TIMEOUT_MS,
          what: "the wait",
        });
        return;
      case "over":
        this.outcome = await this.#result();
    }
  }

  get #handle(): WorkflowHandle {
    return this.#request.client.workflow.getHandle(this.#request.session);
  }

  async #start(step: Extract<ScheduleStep, { type: "start" }>): Promise<void> {
    const { prompt, promptId, mode, with: first } = step;
    const { client, session, taskQueue, definition, idleTimeoutMs } = this.#request;
    const request: StartRequest = {
      definition,
      mode,
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
      ...(prompt === undefined ? {} : { prompt: { id: promptId as string, text: prompt } }),
    };
    const options = { workflowId: session, taskQueue, args: [request] };
    if (first === undefined) {
      await client.workflow.start("agent", options);
      return;
    }
    const { name, args } = signalOf(first);
    await client.workflow.signalWithStart("agent", { ...options, signal: name, signalArgs: args });
  }

  /** A query behind a signal is answered when the signal was taken. */
  async #send(sent: Sent): Promise<void> {
    if (sent.do === "prompt") return await this.#prompt(sent);
    if (sent.do === "cancel") await this.#handle.cancel();
    else {
      const { name, args } = signalOf(sent);
      await this.#handle.signal(name, ...args);
    }
    await this.#handle.query(statusQuery).catch((error: unknown) => {
      if (sent.do !== "stop" && sent.do !== "cancel") throw error;
    });
  }

  async #prompt({ messageId, text }: Extract<Sent, { do: "prompt" }>): Promise<void> {
    try {
      await this.#handle.executeUpdate(promptUpdate, { args: [{ id: messageId, text }] });
    } catch (error) {
      this.refused.push(String((error as { cause?: Error }).cause?.message ?? error));
    }
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

  async #untilRunning(count: number): Promise<void> {
    await eventually(
      async () => {
        const { doing } = await this.#handle.query(statusQuery);
        return doing.startsWith("running ") && doing.split(", ").length === count;
      },
      { timeoutMs: STEP_TIMEOUT_MS, everyMs: 5, what: `${count} running calls` },
    );
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

function signalOf(sent: Sent): { name: string; args: unknown[] } {
  switch (sent.do) {
    case "steer":
      return { name: steerSignal.name, args: [{ id: sent.messageId, text: sent.text }] };
    case "followUp":
      return { name: followUpSignal.name, args: [{ id: sent.messageId, text: sent.text }] };
    case "stop":
      return { name: stopSignal.name, args: sent.reason === undefined ? [] : [sent.reason] };
    case "queueMode":
      return { name: queueModeSignal.name, args: [{ queue: sent.queue, mode: sent.mode }] };
    case "clearQueues":
      return { name: clearQueuesSignal.name, args: [sent.queue] };
    default:
      throw new Error(`"${sent.do}" is no signal`);
  }
}

function vendorAnswer(reply: ScenarioReply, nth: number): Answer {
  const failure = httpFailure(reply);
  if (failure !== undefined) return { fault: "http", ...failure };
  const { takesMs } = reply;
  const answer = {
    ...wireReply(reply, nth),
    ...(takesMs === undefined ? {} : { firstByteDelayMs: takesMs }),
  };
  if (reply.cut !== undefined) return { fault: "cut", clean: true, reply: answer };
  if (reply.breaksOff !== undefined) return { fault: "mid-stream-error", ...reply.breaksOff, reply: answer };
  return answer;
}

/** Rejects when the signal says so, which is all that a tool which hangs does. */
function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error("ended"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** Two sides that meet under a name, whoever comes first: one waits for an answer, the other for its coming. */
class Meetings<Name, Answer> {
  readonly #waiting: { name: Name; resolve: (answer: Answer) => void }[] = [];
  readonly #comers: { name: Name; resolve: () => void }[] = [];

  wait(name: Name): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push({ name, resolve });
      for (const comer of this.#comers.filter((one) => one.name === name)) {
        this.#comers.splice(this.#comers.indexOf(comer), 1);
        comer.resolve();
      }
    });
  }

  come(name: Name): Promise<void> {
    if (this.#waiting.some((one) => one.name === name)) return Promise.resolve();
    return new Promise((resolve) => void this.#comers.push({ name, resolve }));
  }

  answer(name: Name, answer: Answer): void {
    const at = this.#waiting.findIndex((one) => one.name === name);
    const [found] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (found === undefined) throw new Error(`Nobody waits for ${String(name)}`);
    found.resolve(answer);
  }
}

async function within(work: Promise<void>, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the server did not come to ${what} within ${STEP_TIMEOUT_MS} ms`)),
      STEP_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
