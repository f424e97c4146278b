import type { ZodType } from "zod";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { AgentDefinitionInput, Limits, QueueMode } from "../schema/definition.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { EditResult } from "../store/transcript/archive.ts";
import type { ClientLink } from "./connection/client-link.ts";
import type { PositionOptions } from "./read/branch-position.ts";
import { type BranchTree, readBranchTree } from "./read/branch-tree.ts";
import { type LoopHistory, type MessagesOptions, readLoops, readMessages } from "./read/read-session.ts";
import { readSessionRecord, type SessionRecordWithTotals } from "./read/read-session-record.ts";
import { type RequestOptions, readTurnRequest, type TurnRequest } from "./read/read-turn-request.ts";
import { createFollowingSession, findCurrentSession } from "./read/rotate-session.ts";
import { type EventsOptions, type SessionEvent, streamSessionEvents } from "./read/session-events.ts";
import { type AnswerOptions, answerCall } from "./runs/answer-call.ts";
import {
  type AnswerResult,
  type ApproveOptions,
  approveCall,
  type DenyOptions,
  denyCall,
} from "./runs/approve-call.ts";
import { awaitResult } from "./runs/await-result.ts";
import { type CompactResult, compactSession } from "./runs/compact-session.ts";
import {
  type ContinueOptions,
  continueSession,
  type RerunOptions,
  raiseLimits,
  rerunLoop,
} from "./runs/continue-session.ts";
import {
  type Exploration,
  type ExploredBranch,
  type ExploreOptions,
  exploreSession,
} from "./runs/explore-session.ts";
import { listWaitingCalls, type WaitingCall } from "./runs/list-waiting-calls.ts";
import { type PromptOptions, type PromptResult, promptSession } from "./runs/prompt-session.ts";
import {
  clearQueues,
  queueMessage,
  type SendOptions,
  type SendResult,
  setQueueMode,
  stopSession,
} from "./runs/queue-message.ts";
import { addOutput, type SessionResult } from "./runs/read-output.ts";
import { type SendMessageOptions, type SendMessageResult, sendMessage } from "./runs/send-message.ts";
import { readSessionStatus, type SessionStatus } from "./runs/session-status.ts";
import { setSessionRetained } from "./runs/set-retained.ts";
import { type UpdateOptions, type UpdateResult, updateSession } from "./runs/update-session.ts";
import { type BranchOptions, branchSession } from "./sessions/branch-session.ts";
import { type AgentSnapshot, createCheckpoint, restoreCheckpoint } from "./sessions/checkpoint.ts";
import { type DeleteOptions, type DeleteResult, deleteSession } from "./sessions/delete-session.ts";
import {
  appendMessages,
  clearMessages,
  resetSession,
  restoreMessages,
  saveMessages,
} from "./sessions/edit-session.ts";
import { type ExportOptions, exportSession } from "./sessions/export-session.ts";
import { type ForkedBranch, type ForkOptions, forkSession } from "./sessions/fork-session.ts";
import { type RewindResult, rewindSession } from "./sessions/rewind-session.ts";

/** One session: a conversation that spans any number of runs. `Output` is the type of its structured output. */
export class Session<Output = unknown> {
  readonly id: string;
  /** The run that this handle has started. `result` and `events` refer to it, or to the newest run if absent. */
  readonly runId: string | undefined;
  readonly #link: ClientLink;
  readonly #output: ZodType<Output> | undefined;

  constructor(link: ClientLink, id: string, runId?: string, output?: ZodType<Output>) {
    this.#link = link;
    this.#output = output;
    this.id = id;
    this.runId = runId;
  }

  prompt(text: string, options?: PromptOptions): Promise<PromptResult> {
    return promptSession(this.#link, this.id, text, options);
  }

  /** Sends one message, whatever the session's state: opens, continues or prompts it, or steers a running one on request. */
  send(text: string, options?: SendMessageOptions): Promise<SendMessageResult> {
    return sendMessage(this.#link, this.id, text, options);
  }

  /** Queues a message that is delivered before the agent's next answer. */
  steer(text: string, options?: SendOptions): Promise<SendResult> {
    return queueMessage(this.#link, "steer", this.id, text, options);
  }

  /** Queues a message that is delivered when the agent would otherwise stop. */
  followUp(text: string, options?: SendOptions): Promise<SendResult> {
    return queueMessage(this.#link, "follow-up", this.id, text, options);
  }

  /** Stops the run: the request to the vendor, the tools, then the loop. Returns whether a run was open. */
  stop(reason?: string): Promise<boolean> {
    return stopSession(this.#link, this.id, reason);
  }

  /**
   * Lists the pending calls of the session and of all agents below it. Includes their arguments if the transcript is on this
   * machine.
   */
  approvals(): Promise<readonly WaitingCall[]> {
    return listWaitingCalls(this.#link, this.id);
  }

  /** Approves a pending call. You may omit its id while only one call is pending. */
  approve(toolCallId?: string, options?: ApproveOptions): Promise<AnswerResult> {
    return approveCall(this.#link, this.id, toolCallId, options);
  }

  /** Denies a pending call; the model receives the reason. */
  deny(toolCallId?: string, options?: DenyOptions): Promise<AnswerResult> {
    return denyCall(this.#link, this.id, toolCallId, options);
  }

  /** Answers the question of a pending call's tool. You may omit the call's id while only one call is pending. */
  answer(toolCallId?: string, options?: AnswerOptions): Promise<AnswerResult> {
    return answerCall(this.#link, this.id, toolCallId, options);
  }

  /** Compacts the context: an open run does so before its next answer, an idle session at once. */
  compact(options?: { readonly focus?: string }): Promise<CompactResult> {
    return compactSession(this.#link, this.id, options);
  }

  /** Changes the session's definition: an open run takes it before its next turn, an idle session with its next run. */
  update(definition: AgentDefinitionInput, options?: UpdateOptions): Promise<UpdateResult> {
    return updateSession(this.#link, this.id, definition, options);
  }

  /** Continues the idle session as it is, without a new prompt. */
  async continue(options?: ContinueOptions): Promise<Session<Output>> {
    const { runId } = await continueSession(this.#link, this.id, options);
    return new Session(this.#link, this.id, runId, this.#output);
  }

  /** Answers the prompts of a loop again, on a new branch. */
  async rerun(options?: RerunOptions): Promise<Session<Output>> {
    const { runId } = await rerunLoop(this.#link, this.id, options);
    return new Session(this.#link, this.id, runId, this.#output);
  }

  /** Begins a branch at a position, by reference. Nothing else changes; pass its name to start, prompt or continue. */
  fork(options?: ForkOptions): Promise<ForkedBranch> {
    return forkSession(this.#link, this.id, options);
  }

  /** Starts a new branch at a past position, optionally with another prompt, model or definition. Files remain unchanged. */
  async branch(options?: BranchOptions): Promise<Session<Output>> {
    const { runId } = await branchSession(this.#link, this.id, options);
    return new Session(this.#link, this.id, runId, this.#output);
  }

  /** Starts several branches side by side at one position, each with its own prompt or definition. Retains all of them. */
  explore(branches: readonly ExploredBranch[], options?: ExploreOptions): Promise<Exploration> {
    return exploreSession(this.#link, this.id, branches, options);
  }

  /** Moves the head of the idle session to a position, backward or forward. The record and the files remain unchanged. */
  rewind({ to }: { readonly to: PositionOptions }): Promise<RewindResult> {
    return rewindSession(this.#link, this.id, to);
  }

  /** Lists the branches: where they begin, which loops are on them, and which one is the head. */
  branches(): Promise<BranchTree> {
    return readBranchTree(this.#link, this.id);
  }

  /** Creates a session with the same definition and an empty conversation. */
  async newSession(id?: string): Promise<Session<Output>> {
    return new Session(
      this.#link,
      await createFollowingSession(this.#link, this.id, id),
      undefined,
      this.#output,
    );
  }

  /** Creates a session if this one has been idle for longer than `idleMs`; otherwise does nothing. */
  async rotateAfter(idleMs: number): Promise<Session<Output> | undefined> {
    const { session, isNew } = await findCurrentSession(this.#link, this.id, idleMs);
    return isNew ? new Session(this.#link, session, undefined, this.#output) : undefined;
  }

  /** Raises the limits of the running loop. Returns the limits that apply from then on. */
  raiseLimits(limits: Partial<Limits>): Promise<Limits> {
    return raiseLimits(this.#link, this.id, limits);
  }

  status(): Promise<SessionStatus> {
    return readSessionStatus(this.#link, this.id);
  }

  async result(options: { readonly signal?: AbortSignal } = {}): Promise<SessionResult<Output>> {
    const result = await awaitResult(this.#link, this.id, { runId: this.runId, ...options });
    return addOutput(this.#link, result, this.#output, options.signal);
  }

  messages(options?: MessagesOptions): Promise<readonly Entry[]> {
    return readMessages(this.#link, this.id, options);
  }

  /** Reads all recorded loops, with their events as stored. */
  loops(): Promise<readonly LoopHistory[]> {
    return readLoops(this.#link, this.id);
  }

  /** Reads what the model received for one answer, with the origin of every block. */
  request(options?: RequestOptions): Promise<TurnRequest> {
    return readTurnRequest(this.#link, this.id, options);
  }

  /**
   * Follows the session as self-contained events, partial answers included. Each event carries the cursor from which a later
   * reader, in this process or another, resumes.
   */
  events(options: EventsOptions = {}): AsyncIterable<SessionEvent> {
    return streamSessionEvents(this.#link, this.id, {
      ...omitUndefined({ runId: this.runId }),
      ...options,
    });
  }

  setQueueMode(queue: "steering" | "follow-up", mode: QueueMode): Promise<void> {
    return setQueueMode(this.#link, this.id, queue, mode);
  }

  clearQueues(queue: "steering" | "follow-up" | "all" = "all"): Promise<void> {
    return clearQueues(this.#link, this.id, queue);
  }

  /** Reads the whole session: its loops with their messages, turns and events, how they are linked, and the totals. */
  record(): Promise<SessionRecordWithTotals> {
    return readSessionRecord(this.#link, this.id);
  }

  /** Yields the lines of a file that `import` reads, here or elsewhere; safe while a run is open. */
  export(options?: ExportOptions): AsyncIterable<string> {
    return exportSession(this.#link, this.id, options);
  }

  /** Deletes the session and those of all agents below it. */
  delete(options?: DeleteOptions): Promise<DeleteResult> {
    return deleteSession(this.#link, this.id, options);
  }

  /** Exempts the session from every retention policy, or ends the exemption. */
  setRetained(isRetained = true): Promise<void> {
    return setSessionRetained(this.#link, this.id, isRetained);
  }

  /** Creates a checkpoint, to continue from later: here with `restore`, or elsewhere with `resume`. */
  checkpoint(): Promise<AgentSnapshot> {
    return createCheckpoint(this.#link, this.id);
  }

  restore(snapshot: AgentSnapshot): Promise<EditResult> {
    return restoreCheckpoint(this.#link, this.id, snapshot);
  }

  /** Returns the conversation as a JSON array. */
  saveMessages(): Promise<string> {
    return saveMessages(this.#link, this.id);
  }

  /** Continues from these messages on a new branch. Like every change from outside, it requires an idle session. */
  restoreMessages(saved: string | readonly AgentMessage[]): Promise<EditResult> {
    return restoreMessages(this.#link, this.id, saved);
  }

  replaceMessages(messages: readonly AgentMessage[]): Promise<EditResult> {
    return restoreMessages(this.#link, this.id, messages);
  }

  appendMessages(...messages: readonly AgentMessage[]): Promise<EditResult> {
    return appendMessages(this.#link, this.id, messages);
  }

  /** Begins an empty conversation on a new branch; the earlier messages stay in the record. */
  clearMessages(): Promise<EditResult> {
    return clearMessages(this.#link, this.id);
  }

  /** Stops the run, discards all waiting messages, and begins an empty conversation. */
  reset(): Promise<EditResult> {
    return resetSession(this.#link, this.id);
  }
}
