import { randomUUID } from "node:crypto";
import type { JobResult } from "../../core/job/job-result.ts";
import type { JobStatus } from "../../core/job/job-status.ts";
import { wakeSignal } from "../../workflows/messages.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated, unknownJob } from "../failures.ts";
import { awaitResult } from "./result.ts";
import { mustHaveRoom, stopSession } from "./send.ts";
import { type SessionStatus, sessionStatus } from "./status.ts";
import { pack } from "./words.ts";

/** Where a job stands; `job` is there while a worker answers. */
export type JobStanding = SessionStatus & Partial<Pick<JobStatus, "job">>;

/** One job: agents that work together on a task. Each part is a session of its own below its id. */
export class Job {
  readonly id: string;
  /** The run that this handle has started; `result` is about it. Else about the newest. */
  readonly runId: string | undefined;
  readonly #link: Link;

  constructor(link: Link, id: string, runId?: string) {
    this.#link = link;
    this.id = id;
    this.runId = runId;
  }

  /**
   * Waits for the job's end. One that failed by its own account gives its result as data. An interactive job is a
   * session: its result is that of `client.session(id)`.
   */
  async result(options: { readonly signal?: AbortSignal } = {}): Promise<JobResult> {
    return await this.#ask(async () => {
      const result: unknown = await awaitResult(this.#link, this.id, { runId: this.runId, ...options });
      return result as JobResult;
    });
  }

  async status(): Promise<JobStanding> {
    return await this.#ask(() => sessionStatus(this.#link, this.id));
  }

  /** Ends the job and all that works for it. Gives whether it was open. */
  stop(reason?: string): Promise<boolean> {
    return this.#ask(() => stopSession(this.#link, this.id, reason));
  }

  /** Wakes an autonomous agent that sleeps. @param words - Its next prompt; else it is told that it was woken. */
  async wake(words?: string): Promise<void> {
    const message =
      words === undefined
        ? undefined
        : await pack(this.#link, words, "wake-up", randomUUID(), WAKE_INLINE_BYTES);
    await this.#ask(async () => {
      if (message !== undefined) await mustHaveRoom(this.#link, this.id, message);
      await this.#link.client.workflow
        .getHandle(this.id)
        .signal(wakeSignal, ...(message === undefined ? [] : [message]));
    });
  }

  /** With an error that speaks of a job where there is none. */
  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await question();
    } catch (error) {
      const found = translated(error, this.#link, this.id);
      throw found instanceof HoldfastError && found.code === "session-unknown"
        ? unknownJob(this.#link, this.id, error)
        : found;
    }
  }
}

/** They wait in the state of a job, with others perhaps. */
const WAKE_INLINE_BYTES = 1024;
