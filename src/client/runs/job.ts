import type { JobResult } from "../../core/job/job-result.ts";
import type { JobStatus } from "../../core/job/job-status.ts";
import { createUnknownJobError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import type { ResultOptions } from "./read-output.ts";
import { rejectFailure } from "./reject-failure.ts";
import type { SessionStatus } from "./session-status.ts";

/** The status of a job; `job` is present while a worker answers. */
export type JobState = SessionStatus & Partial<Pick<JobStatus, "job">>;

/** One job: agents that work together on a task. Each part is a session whose id begins with the job's id. */
export class Job {
  /** The job's id. The ids of its parts begin with it. */
  readonly id: string;
  /** The run that this handle has started: `result` refers to it. If absent, it refers to the newest run. */
  readonly runId: string | undefined;
  readonly #link: ClientLink;

  /** @internal */
  constructor(link: ClientLink, id: string, runId?: string) {
    this.#link = link;
    this.id = id;
    this.runId = runId;
  }

  /**
   * Waits for the job's end. An interactive job is a session: its result is that of `holdfast.session(id)`.
   *
   * @throws {HoldfastError} With the code `run-failed` and the outcome in `facts`, if the job failed.
   */
  async result(options?: ResultOptions): Promise<JobResult> {
    const result = await this.tryResult(options);
    const command = `holdfast job resume ${this.id}`;
    return rejectFailure(
      result,
      { name: `Job ${this.id}`, session: this.id },
      result.mode === "pipeline"
        ? { advice: `Remove the cause, then resume it with \`${command}\`.`, command }
        : {
            advice: "Remove the cause, then start it again. `tryResult()` returns the results of its parts.",
          },
    );
  }

  /** Waits as `result` does, and returns the result of a failed job, too. */
  async tryResult(options: ResultOptions = {}): Promise<JobResult> {
    const { awaitResult } = await import("./await-result.ts");
    return await this.#askRun(async () => {
      const result: unknown = await awaitResult(this.#link, this.id, { runId: this.runId, ...options });
      return result as JobResult;
    });
  }

  /** Reads the status of the job and its parts. */
  async status(): Promise<JobState> {
    const { readSessionStatus } = await import("./session-status.ts");
    return await this.#askRun(() => readSessionStatus(this.#link, this.id));
  }

  /** Stops the job and all agents that work for it. Returns whether it was open. */
  async stop(reason?: string): Promise<boolean> {
    const { stopSession } = await import("./queue-message.ts");
    return this.#askRun(() => stopSession(this.#link, this.id, reason));
  }

  /** Wakes a sleeping autonomous agent. @param text - Its next prompt; by default, a message that it was woken. */
  async wake(text?: string): Promise<void> {
    const { wakeSignal } = await import("../../workflows/messages.ts");
    const { createMessageInput } = await import("./message-input.ts");
    const { assertQueueHasRoom } = await import("./queue-message.ts");
    const message =
      text === undefined
        ? undefined
        : await createMessageInput(this.#link, text, "wake-up", { inlineBytes: WAKE_INLINE_BYTES });
    await this.#askRun(async () => {
      if (message !== undefined) await assertQueueHasRoom(this.#link, this.id, message);
      await this.#link.client.workflow
        .getHandle(this.id)
        .signal(wakeSignal, ...(message === undefined ? [] : [message]));
    });
  }

  /** Runs a request, and reports an unknown id as an unknown job. */
  async #askRun<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await question();
    } catch (error) {
      const found = toHoldfastError(error, this.#link, this.id);
      throw found instanceof HoldfastError && found.code === "session-unknown"
        ? createUnknownJobError(this.#link, this.id, error)
        : found;
    }
  }
}

/** Wake texts wait in the state of a job, possibly with others. */
const WAKE_INLINE_BYTES = 1024;
