import { condition, scheduleActivity, setHandler, workflowInfo } from "@temporalio/workflow";
import type { Activities, PassOutputInput } from "../activities/activity-types.ts";
import { type JobState, openJob } from "../core/job/job.ts";
import type { JobResult } from "../core/job/job-result.ts";
import type { ModeStatus } from "../core/job/job-status.ts";
import { getNextRound, getOutcome } from "../core/job/parts.ts";
import {
  decideAfterRound,
  ROUND_PROMPTS,
  type RoundCause,
  type RoundLimits,
  roundsStatus,
} from "../core/job/rounds.ts";
import { addRejected, hasRoomFor, measureMessages, type QueueSize } from "../core/machine/queue-size.ts";
import type { RejectedMessages } from "../core/machine/state/inbound-message.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { Outcome } from "../schema/record.ts";
import { buildWriteOptions } from "./activity-options.ts";
import { buildOpening, JobRun, runAsJob } from "./job.ts";
import type { AutonomousRequest } from "./job-input.ts";
import { mustBe, mustHaveTask } from "./job-step.ts";
import { type MessageInput, wakeSignal } from "./messages.ts";
import { checkRequest } from "./request-shapes.ts";
import { continueRunAsNew, shouldRotate } from "./rotate.ts";
import { buildSettings, isMessageInput } from "./run-input.ts";

/** The state between two rounds, which a run passes on when it continues as new. */
type CarriedState = {
  readonly job: JobState;
  readonly rounds: number;
  readonly idleRounds: number;
  readonly cause: RoundCause;
  /** Messages that wait for a round, oldest first. */
  readonly waitingMessages: readonly MessageInput[];
};

type AutonomousInput = AutonomousRequest & { readonly carried?: CarriedState };

const DEFAULT_IDLE_ROUNDS = 3;

/** Runs an agent in rounds, in one session, until its work is done, its budget is spent, or a user stops it. */
export function autonomous(input: AutonomousInput): Promise<JobResult> {
  return runAsJob(async (outside) => {
    mustBe(typeof input?.definitionHash === "string", "`definitionHash` must be the hash of a definition");
    mustHaveTask(input.task);
    checkRequest(input, "autonomous");
    const { agent, carried } = input;
    const parts = [{ name: "work", agent, session: `${workflowInfo().workflowId}.work` }];
    const initial = carried?.job ?? openJob({ ...buildOpening(input), mode: "autonomous", parts });
    const limits = {
      maxIdleRounds: input.maxIdleRounds ?? DEFAULT_IDLE_ROUNDS,
      maxRounds: input.maxRounds ?? null,
    };
    return await new RoundLoop(
      input,
      limits,
      (status) => new JobRun(initial, buildSettings(input), outside, { status }),
    ).run();
  });
}

class RoundLoop {
  readonly #job: JobRun;
  readonly #input: AutonomousInput;
  readonly #limits: RoundLimits;
  #rounds: number;
  #idleRounds: number;
  #cause: RoundCause;
  #waitingMessages: MessageInput[];
  #rejected: RejectedMessages | undefined;
  #sleepsUntilMs: number | undefined;
  #isWoken = false;

  constructor(input: AutonomousInput, limits: RoundLimits, open: (status: () => ModeStatus) => JobRun) {
    const { rounds = 0, idleRounds = 0, cause = "task", waitingMessages = [] } = input.carried ?? {};
    this.#input = input;
    this.#limits = limits;
    this.#rounds = rounds;
    this.#idleRounds = idleRounds;
    this.#cause = cause;
    this.#waitingMessages = [...waitingMessages];
    this.#job = open(() => this.#status());
    setHandler(
      wakeSignal,
      (message) => {
        if (isMessageInput(message)) this.#enqueue(message);
        this.#isWoken = true;
        this.#job.publish();
      },
      { description: "Wakes the job; a message becomes the prompt of the next round" },
    );
  }

  #status(): ModeStatus {
    return roundsStatus({
      rounds: this.#rounds,
      ...omitUndefined({ sleepsUntilMs: this.#sleepsUntilMs }),
      waiting: this.#measureWaiting(),
      ...omitUndefined({ refused: this.#rejected }),
    });
  }

  #enqueue(input: MessageInput): void {
    const message = toMessage(input);
    if (hasRoomFor(this.#measureWaiting(), message)) this.#waitingMessages.push(input);
    else this.#rejected = addRejected(this.#rejected, { id: message.id ?? "", atMs: Date.now() });
  }

  #measureWaiting(): QueueSize {
    return measureMessages(this.#waitingMessages.map(toMessage));
  }

  async run(): Promise<JobResult> {
    const job = this.#job;
    for (;;) {
      if (job.stopOutcome !== undefined) return await this.#end(job.stopOutcome);
      if (shouldRotate(job.settings)) return await this.#rotate();
      const prompt = this.#buildNextPrompt();
      this.#rounds += 1;
      job.publish();
      const { definitionHash } = this.#input;
      const end = await job.runPart(0, { definitionHash, prompt });
      if (job.stopOutcome !== undefined) return await this.#end(job.stopOutcome);
      if (end.type === "denied") {
        this.#rounds -= 1;
        return await this.#end(end.outcome);
      }
      const after = decideAfterRound(
        getOutcome(end),
        getNextRound(end),
        { idle: this.#idleRounds, rounds: this.#rounds, waiting: this.#waitingMessages.length > 0 },
        this.#limits,
      );
      if (after.type === "end")
        return await (after.isDone ? this.#finish(after.outcome) : this.#end(after.outcome));
      this.#idleRounds = after.type === "round" ? after.idleRounds : 0;
      this.#cause = after.type === "round" ? "continue" : await this.#sleep(after.seconds, after.reason);
      this.#isWoken = false;
    }
  }

  /**
   * Returns the task in the first round, and afterwards the oldest message that a user has sent, or else a built-in
   * prompt.
   */
  #buildNextPrompt(): MessageInput {
    const cause = this.#cause;
    if (cause === "task") return this.#input.task;
    return this.#waitingMessages.shift() ?? ROUND_PROMPTS[cause];
  }

  /**
   * Sleeps for this time, but not longer than the job's time limit or until a user wakes the job. A wake-up that
   * arrived during the round counts.
   */
  async #sleep(seconds: number, reason: string): Promise<RoundCause> {
    const job = this.#job;
    const { deadlineMs } = job.state.account.own;
    const wanted = Date.now() + seconds * 1000;
    const untilMs = deadlineMs === null ? wanted : Math.min(wanted, deadlineMs);
    const suffix = job.settings.redactContent === true ? "" : `: ${reason}`;
    this.#sleepsUntilMs = untilMs;
    job.update({ statusText: `sleeping until ${new Date(untilMs).toISOString()}${suffix}` });
    const isUp = () => this.#isWoken || job.stopOutcome !== undefined;
    const woken = await condition(isUp, Math.max(1, untilMs - Date.now()));
    this.#sleepsUntilMs = undefined;
    job.update({ statusText: "" });
    return woken ? "wake" : "timer";
  }

  #end(outcome: Outcome): Promise<JobResult> {
    return this.#job.end(outcome, { rounds: this.#rounds });
  }

  async #finish(outcome: Outcome): Promise<JobResult> {
    const { task, definitionHash } = this.#input;
    const { name, session, report } = this.#job.state.parts[0]!;
    const input: PassOutputInput = {
      task,
      from: { name, session, definitionHash, ...report, isFinished: true },
    };
    const output = await scheduleActivity<Awaited<ReturnType<Activities["pass-output"]>>>(
      "pass-output",
      [input],
      buildWriteOptions("the result"),
    );
    return await this.#job.end(outcome, { ...output, rounds: this.#rounds });
  }

  #rotate(): Promise<never> {
    const carried: CarriedState = {
      job: this.#job.state,
      rounds: this.#rounds,
      idleRounds: this.#idleRounds,
      cause: this.#cause,
      waitingMessages: this.#waitingMessages,
    };
    return continueRunAsNew<typeof autonomous>({ ...this.#input, carried });
  }
}

function toMessage(input: MessageInput): Exclude<MessageInput, string> {
  return typeof input === "string" ? { text: input } : input;
}
