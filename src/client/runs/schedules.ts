import {
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleSummary,
} from "@temporalio/client";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { WorkModeInput } from "../../schema/mode.ts";
import { WORKFLOW_TASK_TIMEOUT } from "../../workflows/activity-options.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import type { Prompt } from "../prompts/prompt-part.ts";

/** What happens to a start that is due while the preceding one is still running. */
export type Overlap = "skip" | "buffer-one" | "buffer-all" | "cancel-other" | "allow-all";

const OVERLAPS = {
  skip: ScheduleOverlapPolicy.SKIP,
  "buffer-one": ScheduleOverlapPolicy.BUFFER_ONE,
  "buffer-all": ScheduleOverlapPolicy.BUFFER_ALL,
  "cancel-other": ScheduleOverlapPolicy.CANCEL_OTHER,
  "allow-all": ScheduleOverlapPolicy.ALLOW_ALL,
} as const satisfies Record<Overlap, ScheduleOverlapPolicy>;

/** Every value of `Overlap`. */
export const OVERLAP_POLICIES = Object.keys(OVERLAPS) as readonly Overlap[];

/** What a schedule starts, and when. */
export type CreateScheduleOptions = {
  /** The schedule's id; the ids of the sessions and jobs that it starts begin with it. */
  readonly name: string;
  /** A cron expression, such as `0 9 * * 1-5`. Either `cron` or `everyMs` is required. */
  readonly cron?: string;
  /** The time between two starts, in milliseconds. Either `cron` or `everyMs` is required. */
  readonly everyMs?: number;
  /** The time zone of `cron`; UTC by default. */
  readonly timeZone?: string;
  /** `skip` by default. */
  readonly overlap?: Overlap;
  /** Creates the schedule paused; `unpause` starts it. */
  readonly paused?: boolean;
} & (
  | {
      /** The agent that each start runs, in a session of its own. */
      readonly agent: AgentDefinitionInput;
      /** The prompt of each run: a text, or texts, images and files. */
      readonly task: Prompt;
    }
  | {
      /** The job that each start runs. */
      readonly mode: WorkModeInput;
      /** The task of each job: a text, or texts, images and files; optional if the mode contains it. */
      readonly task?: Prompt;
    }
  /** Wakes a sleeping job. */
  | {
      /** The id of the job. */
      readonly wake: string;
      /** A message for the job. */
      readonly text?: string;
    }
);

/** A schedule of Holdfast on the server. */
export type ScheduleInfo = {
  /** The schedule's id. */
  readonly name: string;
  /** Whether it starts nothing at present. */
  readonly paused: boolean;
  /** The workflow type that it starts. */
  readonly starts: string | undefined;
  /** The note of the last pause or restart. */
  readonly note: string | undefined;
  /** When it starts next, the nearest time first. */
  readonly nextAt: readonly Date[];
  /** The newest starts, with the ids of the sessions or jobs. */
  readonly recent: readonly {
    /** When the start happened. */
    readonly at: Date;
    /** The id of the session or job. */
    readonly id: string;
  }[];
};

/** The memo key that marks Holdfast's schedules, so that `list` omits others. */
const MEMO_KEY = "holdfast";

/** The longest suffix that Temporal adds to a schedule's name: `-` and a time stamp. */
const MAX_NAME_BYTES = 90;

/** Starts agents on a schedule, with Temporal's own schedules. */
export class Schedules {
  readonly #link: ClientLink;

  /** @internal */
  constructor(link: ClientLink) {
    this.#link = link;
  }

  /** Creates a schedule. Each start has its own session or job: the schedule's name, followed by the time. */
  async create(options: CreateScheduleOptions): Promise<void> {
    const { buildScheduleAction } = await import("./schedule-action.ts");
    const { keepScheduleTexts } = await import("./keep-texts.ts");
    const link = this.#link;
    const { name, overlap = "skip", paused = false } = options;
    const spec = buildSpec(options);
    await checkName(name);
    const { checkSearchAttributes } = await import("./check-search-attributes.ts");
    await checkSearchAttributes(link);
    const { workflowType, request, tasks, summary, memo } = await buildScheduleAction(link, options);
    // Before the schedule exists: it must never start without its files.
    await keepScheduleTexts(link, name, tasks);
    await this.#call(name, () =>
      link.client.schedule.create({
        scheduleId: name,
        spec,
        memo: { [MEMO_KEY]: true },
        policies: { overlap: OVERLAPS[overlap] },
        // The only text of a schedule that no codec encrypts.
        state: { paused, ...(link.isEncrypted === true ? {} : { note: summary }) },
        action: {
          type: "startWorkflow",
          workflowType,
          workflowId: name,
          taskQueue: link.taskQueue,
          workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
          args: [request],
          staticSummary: summary,
          ...omitUndefined({ memo }),
        },
      }),
    );
  }

  /** Lists the schedules that Holdfast has created in the namespace. */
  async list(): Promise<readonly ScheduleInfo[]> {
    const found: ScheduleInfo[] = [];
    await this.#call("", async () => {
      for await (const one of this.#link.client.schedule.list()) {
        if (one.memo?.[MEMO_KEY] === true) found.push(toScheduleInfo(one));
      }
    });
    return found;
  }

  /** Stops the starts until `unpause`. @param note - Why, for `list`. */
  pause(name: string, note?: string): Promise<void> {
    return this.#withHandle(name, (handle) => handle.pause(note));
  }

  /** Resumes the starts. @param note - Why, for `list`. */
  unpause(name: string, note?: string): Promise<void> {
    return this.#withHandle(name, (handle) => handle.unpause(note));
  }

  /** Starts it once, immediately. */
  trigger(name: string): Promise<void> {
    return this.#withHandle(name, (handle) => handle.trigger());
  }

  /** Deletes the schedule, and leaves its images and files to retention. Runs that it has started continue. */
  async delete(name: string): Promise<void> {
    const { releaseScheduleTexts } = await import("./keep-texts.ts");
    const { client } = this.#link;
    await this.#call(name, async () => {
      try {
        await client.schedule.getHandle(name).delete();
      } catch (error) {
        // A schedule that was deleted elsewhere, or could not be created, may have left files.
        if (error instanceof ScheduleNotFoundError) await releaseScheduleTexts(this.#link, name);
        throw error;
      }
      await releaseScheduleTexts(this.#link, name);
    });
  }

  #withHandle(name: string, work: (handle: ScheduleHandle) => Promise<void>): Promise<void> {
    return this.#call(name, () => work(this.#link.client.schedule.getHandle(name)));
  }

  async #call(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) throw createNameTakenError(name, error);
      if (error instanceof ScheduleNotFoundError) throw createUnknownScheduleError(name, error);
      throw toHoldfastError(error, this.#link, name);
    }
  }
}

function buildSpec({ cron, everyMs, timeZone }: CreateScheduleOptions) {
  if ((cron === undefined) === (everyMs === undefined)) {
    throw new HoldfastError("input-invalid", "Specify either `cron` or `everyMs`.");
  }
  if (everyMs !== undefined && !(Number.isFinite(everyMs) && everyMs >= 1000)) {
    throw new HoldfastError("input-invalid", `everyMs is ${everyMs}; the minimum is 1000 (one second).`);
  }
  return {
    ...(cron === undefined ? {} : { cronExpressions: [cron] }),
    ...(everyMs === undefined ? {} : { intervals: [{ every: everyMs }] }),
    ...omitUndefined({ timezone: timeZone }),
  };
}

async function checkName(name: string): Promise<void> {
  const { resolveJobId } = await import("./resolve-job-id.ts");
  resolveJobId(name);
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return;
  throw new HoldfastError("input-invalid", `A schedule's name has at most ${MAX_NAME_BYTES} bytes.`);
}

function toScheduleInfo({ scheduleId, state, action, info }: ScheduleSummary): ScheduleInfo {
  return {
    name: scheduleId,
    paused: state.paused,
    starts: action?.workflowType,
    note: state.note,
    nextAt: info.nextActionTimes.slice(0, 3),
    recent: info.recentActions.map(({ takenAt, action: taken }) => ({
      at: takenAt,
      id: taken.workflow.workflowId,
    })),
  };
}

function createNameTakenError(name: string, cause: unknown): HoldfastError {
  const command = `holdfast schedule delete ${name}`;
  return new HoldfastError(
    "input-invalid",
    `A schedule "${name}" already exists: choose another name, or delete it with \`${command}\`.`,
    { command, cause },
  );
}

function createUnknownScheduleError(name: string, cause: unknown): HoldfastError {
  const command = "holdfast schedule list";
  return new HoldfastError(
    "input-invalid",
    `There is no schedule "${name}". List the schedules with \`${command}\`.`,
    {
      command,
      cause,
    },
  );
}
