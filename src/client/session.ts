import type { ZodType } from "zod";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { AgentDefinitionInput } from "../schema/definition.ts";
import type { Limits } from "../schema/limits.ts";
import type { EditResult } from "../store/transcript/archive.ts";
import type { ClientLink } from "./connection/client-link.ts";
import type { Prompt } from "./prompts/prompt-part.ts";
import type { SessionRecordWithTotals } from "./read/read-session-record.ts";
import type { EventsOptions, SessionEvent } from "./read/session-events.ts";
import type { StreamEvent } from "./read/stream-event.ts";
import type { CompactOptions, CompactResult } from "./runs/compact-session.ts";
import type { ContinueOptions } from "./runs/continue-session.ts";
import type { PromptOptions, PromptResult } from "./runs/prompt-session.ts";
import type { SendOptions, SendResult } from "./runs/queue-message.ts";
import type { ResultOptions, SessionResult } from "./runs/read-output.ts";
import { rejectFailure } from "./runs/reject-failure.ts";
import type { SendMessageOptions, SendMessageResult } from "./runs/send-message.ts";
import type { SessionStatus } from "./runs/session-status.ts";
import type { UpdateOptions, UpdateResult } from "./runs/update-session.ts";
import { SessionApprovals } from "./session-approvals.ts";
import { SessionBranches } from "./session-branches.ts";
import { SessionCheckpoints } from "./session-checkpoints.ts";
import { SessionMessages } from "./session-messages.ts";
import { SessionQueues } from "./session-queues.ts";
import type { DeleteOptions, DeleteResult } from "./sessions/delete-session.ts";
import type { ExportOptions } from "./sessions/export-session.ts";

/** One session: a conversation that spans any number of runs. `Output` is the type of its structured output. */
export class Session<Output = unknown> {
  /** The session's id. */
  readonly id: string;
  /** The run that this handle has started. `result` and `events` refer to it, or to the newest run if absent. */
  readonly runId: string | undefined;
  /** The calls that wait for a user. */
  readonly approvals: SessionApprovals;
  /** The branches of the conversation. */
  readonly branches: SessionBranches<Output>;
  /** Portable copies of the agent's state. */
  readonly checkpoints: SessionCheckpoints;
  /** The conversation. */
  readonly messages: SessionMessages;
  /** The messages that wait for the running agent. */
  readonly queues: SessionQueues;
  readonly #link: ClientLink;
  readonly #output: ZodType<Output> | undefined;

  /** @internal */
  constructor(link: ClientLink, id: string, runId?: string, output?: ZodType<Output>) {
    this.#link = link;
    this.#output = output;
    this.id = id;
    this.runId = runId;
    this.approvals = new SessionApprovals(link, id);
    this.branches = new SessionBranches(link, id, (run) => new Session(link, id, run, output));
    this.checkpoints = new SessionCheckpoints(link, id);
    this.messages = new SessionMessages(link, id);
    this.queues = new SessionQueues(link, id);
  }

  /** Sends the next prompt: to the run that waits for one, or to a new run of the idle session. */
  async prompt(prompt: Prompt, options?: PromptOptions): Promise<PromptResult> {
    const { promptSession } = await import("./runs/prompt-session.ts");
    return promptSession(this.#link, this.id, prompt, options);
  }

  /** Sends one message, whatever the session's state: opens, continues or prompts it, or steers a running one on request. */
  async send(message: Prompt, options?: SendMessageOptions): Promise<SendMessageResult> {
    const { sendMessage } = await import("./runs/send-message.ts");
    return sendMessage(this.#link, this.id, message, options);
  }

  /** Queues a message that is delivered before the agent's next answer. */
  async steer(message: Prompt, options?: SendOptions): Promise<SendResult> {
    const { queueMessage } = await import("./runs/queue-message.ts");
    return queueMessage(this.#link, "steer", this.id, message, options);
  }

  /** Queues a message that is delivered when the agent would otherwise stop. */
  async followUp(message: Prompt, options?: SendOptions): Promise<SendResult> {
    const { queueMessage } = await import("./runs/queue-message.ts");
    return queueMessage(this.#link, "follow-up", this.id, message, options);
  }

  /** Stops the run: the request to the vendor, the tools, then the loop. Returns whether a run was open. */
  async stop(reason?: string): Promise<boolean> {
    const { stopSession } = await import("./runs/queue-message.ts");
    return stopSession(this.#link, this.id, reason);
  }

  /** Continues the idle session as it is, without a new prompt. */
  async continue(options?: ContinueOptions): Promise<Session<Output>> {
    const { continueSession } = await import("./runs/continue-session.ts");
    const { runId } = await continueSession(this.#link, this.id, options);
    return new Session(this.#link, this.id, runId, this.#output);
  }

  /** Gives the session another title; lists and the Temporal UI display it. Returns it as it is stored, on one line. */
  async setTitle(title: string): Promise<string> {
    const { setSessionTitle } = await import("./runs/set-title.ts");
    return setSessionTitle(this.#link, this.id, title);
  }

  /** Changes the session's definition: an open run takes it before its next turn, an idle session with its next run. */
  async update(definition: AgentDefinitionInput, options?: UpdateOptions): Promise<UpdateResult> {
    const { updateSession } = await import("./runs/update-session.ts");
    return updateSession(this.#link, this.id, definition, options);
  }

  /** Compacts the context: an open run does so before its next answer, an idle session at once. `undo` removes it. */
  async compact(options?: CompactOptions): Promise<CompactResult> {
    const { compactSession } = await import("./runs/compact-session.ts");
    return compactSession(this.#link, this.id, options);
  }

  /** Raises the limits of the running loop. Returns the limits that apply from then on. */
  async raiseLimits(limits: Partial<Limits>): Promise<Limits> {
    const { raiseLimits } = await import("./runs/continue-session.ts");
    return raiseLimits(this.#link, this.id, limits);
  }

  /** Stops the run, discards all waiting messages, and begins an empty conversation. */
  async reset(): Promise<EditResult> {
    const { resetSession } = await import("./sessions/edit-session.ts");
    return resetSession(this.#link, this.id);
  }

  /** Reads the status: from the open run, or from the transcript. */
  async status(): Promise<SessionStatus> {
    const { readSessionStatus } = await import("./runs/session-status.ts");
    return readSessionStatus(this.#link, this.id);
  }

  /**
   * Waits until the run has ended. A run that was stopped, has reached a limit or was rejected has a result: see `outcome`.
   *
   * @throws {HoldfastError} With the code `run-failed` and the outcome in `facts`, if the run failed.
   */
  async result(options?: ResultOptions): Promise<SessionResult<Output>> {
    const command = `holdfast continue ${this.id}`;
    return rejectFailure(
      await this.tryResult(options),
      { name: `The run of session ${this.id}`, session: this.id },
      {
        advice: `Its completed work is in the transcript: remove the cause, then continue with \`session.continue()\` or \`${command}\`.`,
        command,
      },
    );
  }

  /** Waits as `result` does, and returns the result of a failed run, too. It rejects only if there is no result. */
  async tryResult(options: ResultOptions = {}): Promise<SessionResult<Output>> {
    const { readSessionResult } = await import("./runs/session-result.ts");
    return readSessionResult(this.#link, this.id, { runId: this.runId, ...options }, this.#output);
  }

  /**
   * The text of the run's answers as it is written; of an idle session, that of its newest loop. Ends with the run, whatever
   * its outcome: `result` reports it. A blank line separates two answers.
   *
   * What was delivered cannot be taken back: when the vendor's stream breaks, the text of the next attempt follows after a
   * blank line. To remove the discarded text, iterate over the session instead and look for `attempt-discarded`.
   */
  get textStream(): AsyncIterable<string> {
    return this.#streamText();
  }

  /**
   * Follows the run as small events, named as in the `fullStream` of Vercel's AI SDK: pieces of text, calls, results, requests
   * for approval. Begins with the loop that is running, or the newest, and ends with the run.
   */
  async *[Symbol.asyncIterator](): AsyncIterator<StreamEvent, void, void> {
    const { streamSession } = await import("./read/stream-session.ts");
    yield* streamSession(this.#link, this.id, omitUndefined({ runId: this.runId }));
  }

  /**
   * Follows the session as self-contained events, partial answers included. Each event carries the cursor from which a later
   * reader, in this process or another, resumes.
   */
  async *events(options: EventsOptions = {}): AsyncIterable<SessionEvent> {
    const { streamSessionEvents } = await import("./read/session-events.ts");
    yield* streamSessionEvents(this.#link, this.id, {
      ...omitUndefined({ runId: this.runId }),
      ...options,
    });
  }

  /** Reads the whole session: its loops with their messages, turns and events, how they are linked, and the totals. */
  async record(): Promise<SessionRecordWithTotals> {
    const { readSessionRecord } = await import("./read/read-session-record.ts");
    return readSessionRecord(this.#link, this.id);
  }

  /** Yields the lines of a file that `holdfast.sessions.import` reads, here or elsewhere; safe while a run is open. */
  async *export(options?: ExportOptions): AsyncIterable<string> {
    const { exportSession } = await import("./sessions/export-session.ts");
    yield* exportSession(this.#link, this.id, options);
  }

  /** Deletes the session and those of all agents below it. */
  async delete(options?: DeleteOptions): Promise<DeleteResult> {
    const { deleteSession } = await import("./sessions/delete-session.ts");
    return deleteSession(this.#link, this.id, options);
  }

  async *#streamText(): AsyncGenerator<string, void, void> {
    const { streamText } = await import("./read/stream-session.ts");
    yield* streamText(this.#link, this.id, omitUndefined({ runId: this.runId }));
  }
}
