import { condition, scheduleActivity, setHandler, workflowInfo } from "@temporalio/workflow";
import type { Activities, HandOverInput } from "../activities/activities.ts";
import { type JobState, openJob } from "../core/job/job.ts";
import type { JobResult } from "../core/job/job-result.ts";
import type { ModeStatus } from "../core/job/job-status.ts";
import { outcomeOf, restOf } from "../core/job/parts.ts";
import {
  afterRound,
  ROUND_WORDS,
  type RoundCause,
  type RoundLimits,
  roundsStatus,
} from "../core/job/rounds.ts";
import {
  countMessages,
  hasRoomFor,
  type RefusedMessages,
  type Waiting,
  withRefused,
} from "../core/waiting-messages.ts";
import type { Outcome } from "../schema/record.ts";
import { writeOptions } from "./activity-options.ts";
import { isWords, settingsFrom } from "./input.ts";
import { asJob, JobRun, openingOf } from "./job.ts";
import type { AutonomousRequest } from "./job-input.ts";
import { mustBe, mustHaveTask } from "./job-step.ts";
import { type Words, wakeSignal } from "./messages.ts";
import { mustBeRequest } from "./request-shapes.ts";
import { goOnAsNew, isLong } from "./rotate.ts";

/** Where it stands between two rounds; what it continues as new with. */
type Carried = {
  readonly job: JobState;
  readonly rounds: number;
  readonly idle: number;
  readonly cause: RoundCause;
  /** Words that wait for their round, oldest first. */
  readonly wakes: readonly Words[];
};

type Input = AutonomousRequest & { readonly carried?: Carried };

const DEFAULT_IDLE_ROUNDS = 3;

/** An agent that works in rounds, in one session, until it is done, its budget is spent, or somebody stops it. */
export function autonomous(input: Input): Promise<JobResult> {
  return asJob(async (outside) => {
    mustBe(typeof input?.definitionHash === "string", "`definitionHash` must name a definition");
    mustHaveTask(input.task);
    mustBeRequest(input, "autonomous");
    const { agent, carried } = input;
    const parts = [{ name: "work", agent, session: `${workflowInfo().workflowId}.work` }];
    const initial = carried?.job ?? openJob({ ...openingOf(input), mode: "autonomous", parts });
    const limits = {
      maxIdleRounds: input.maxIdleRounds ?? DEFAULT_IDLE_ROUNDS,
      maxRounds: input.maxRounds ?? null,
    };
    return await new Work(
      input,
      limits,
      (status) => new JobRun(initial, settingsFrom(input), outside, { status }),
    ).drive();
  });
}

class Work {
  readonly #job: JobRun;
  readonly #input: Input;
  readonly #limits: RoundLimits;
  #rounds: number;
  #idle: number;
  #cause: RoundCause;
  #wakes: Words[];
  #refused: RefusedMessages | undefined;
  #sleepsUntilMs: number | undefined;
  #woken = false;

  constructor(input: Input, limits: RoundLimits, open: (status: () => ModeStatus) => JobRun) {
    const { rounds = 0, idle = 0, cause = "task", wakes = [] } = input.carried ?? {};
    this.#input = input;
    this.#limits = limits;
    this.#rounds = rounds;
    this.#idle = idle;
    this.#cause = cause;
    this.#wakes = [...wakes];
    this.#job = open(() => this.#status());
    setHandler(
      wakeSignal,
      (words) => {
        if (isWords(words)) this.#keep(words);
        this.#woken = true;
        this.#job.show();
      },
      { description: "Ends a sleep; words become the next round's prompt" },
    );
  }

  #status(): ModeStatus {
    return roundsStatus({
      rounds: this.#rounds,
      ...(this.#sleepsUntilMs === undefined ? {} : { sleepsUntilMs: this.#sleepsUntilMs }),
      waiting: this.#waiting(),
      ...(this.#refused === undefined ? {} : { refused: this.#refused }),
    });
  }

  #keep(words: Words): void {
    const message = asMessage(words);
    if (hasRoomFor(this.#waiting(), message)) this.#wakes.push(words);
    else this.#refused = withRefused(this.#refused, { id: message.id ?? "", atMs: Date.now() });
  }

  #waiting(): Waiting {
    return countMessages(this.#wakes.map(asMessage));
  }

  async drive(): Promise<JobResult> {
    const job = this.#job;
    for (;;) {
      if (job.stopped !== undefined) return await this.#end(job.stopped);
      if (isLong(job.settings)) return await this.#rotate();
      const prompt = this.#nextPrompt();
      this.#rounds += 1;
      job.show();
      const { definitionHash } = this.#input;
      const end = await job.part(0, { definitionHash, prompt });
      if (job.stopped !== undefined) return await this.#end(job.stopped);
      if (end.type === "refused") {
        this.#rounds -= 1;
        return await this.#end(end.outcome);
      }
      const after = afterRound(
        outcomeOf(end),
        restOf(end),
        { idle: this.#idle, rounds: this.#rounds, waiting: this.#wakes.length > 0 },
        this.#limits,
      );
      if (after.type === "end")
        return await (after.done ? this.#done(after.outcome) : this.#end(after.outcome));
      this.#idle = after.type === "round" ? after.idle : 0;
      this.#cause = after.type === "round" ? "go-on" : await this.#sleep(after.seconds, after.reason);
      this.#woken = false;
    }
  }

  /** The first round has the task; words that somebody has sent come before ours. */
  #nextPrompt(): Words {
    const cause = this.#cause;
    if (cause === "task") return this.#input.task;
    return this.#wakes.shift() ?? ROUND_WORDS[cause];
  }

  /** Until its time, the job's end of time, or until somebody wakes it. A wake-up that came during the round counts. */
  async #sleep(seconds: number, reason: string): Promise<RoundCause> {
    const job = this.#job;
    const { deadlineMs } = job.state.account.own;
    const wanted = Date.now() + seconds * 1000;
    const untilMs = deadlineMs === null ? wanted : Math.min(wanted, deadlineMs);
    const why = job.settings.words === "none" ? "" : `: ${reason}`;
    this.#sleepsUntilMs = untilMs;
    job.change({ doing: `sleeping until ${new Date(untilMs).toISOString()}${why}` });
    const isUp = () => this.#woken || job.stopped !== undefined;
    const woken = await condition(isUp, Math.max(1, untilMs - Date.now()));
    this.#sleepsUntilMs = undefined;
    job.change({ doing: "" });
    return woken ? "woken" : "slept";
  }

  #end(outcome: Outcome): Promise<JobResult> {
    return this.#job.end(outcome, { rounds: this.#rounds });
  }

  async #done(outcome: Outcome): Promise<JobResult> {
    const { task, definitionHash } = this.#input;
    const { name, session, report } = this.#job.state.parts[0]!;
    const input: HandOverInput = { task, from: { name, session, definitionHash, ...report, finished: true } };
    const said = await scheduleActivity<Awaited<ReturnType<Activities["hand-over"]>>>(
      "hand-over",
      [input],
      writeOptions("the result"),
    );
    return await this.#job.end(outcome, { ...said, rounds: this.#rounds });
  }

  #rotate(): Promise<never> {
    const carried: Carried = {
      job: this.#job.state,
      rounds: this.#rounds,
      idle: this.#idle,
      cause: this.#cause,
      wakes: this.#wakes,
    };
    return goOnAsNew<typeof autonomous>({ ...this.#input, carried });
  }
}

function asMessage(words: Words): Exclude<Words, string> {
  return typeof words === "string" ? { text: words } : words;
}
