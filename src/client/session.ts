import type { ZodType } from "zod";
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
import { type WatchItem, type WatchOptions, watchSession } from "./read/watch-session.ts";
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

/** One session: a conversation that goes on over any number of runs. `Output` is what its results are read as. */
export class Session<Output = unknown> {
  readonly id: string;
  /** The run that this handle has started; `result`, `events` and `watch` are about it. Else about the newest. */
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

  /** One message, whatever the session is doing: it opens, continues or prompts it; a running one is steered if you say so. */
  send(text: string, options?: SendMessageOptions): Promise<SendMessageResult> {
    return sendMessage(this.#link, this.id, text, options);
  }

  /** Words that the agent reads before its next answer. */
  steer(text: string, options?: SendOptions): Promise<SendResult> {
    return queueMessage(this.#link, "steer", this.id, text, options);
  }

  /** Words that the agent reads when it would stop. */
  followUp(text: string, options?: SendOptions): Promise<SendResult> {
    return queueMessage(this.#link, "follow-up", this.id, text, options);
  }

  /** Ends the run: the request to the vendor, the tools, then the loop. Gives whether a run was open. */
  stop(reason?: string): Promise<boolean> {
    return stopSession(this.#link, this.id, reason);
  }

  /** The calls that wait for a person, its own and those of all agents below it, with their arguments where the transcript lies on this machine. */
  approvals(): Promise<readonly WaitingCall[]> {
    return listWaitingCalls(this.#link, this.id);
  }

  /** Lets a call run that waits for a person; which one may be left out while only one waits. */
  approve(toolCallId?: string, options?: ApproveOptions): Promise<AnswerResult> {
    return approveCall(this.#link, this.id, toolCallId, options);
  }

  /** Answers a call that waits for a person with no; the model is told the reason. */
  deny(toolCallId?: string, options?: DenyOptions): Promise<AnswerResult> {
    return denyCall(this.#link, this.id, toolCallId, options);
  }

  /** Answers what the tool of a waiting call asks a person; which call may be left out while only one waits. */
  answer(toolCallId?: string, options?: AnswerOptions): Promise<AnswerResult> {
    return answerCall(this.#link, this.id, toolCallId, options);
  }

  /** Makes the context smaller: before the next answer of an open run, at once when the session is at rest. */
  compact(options?: { readonly focus?: string }): Promise<CompactResult> {
    return compactSession(this.#link, this.id, options);
  }

  /** Moves it to another definition: a run that is at work before its next turn, a session at rest with its next run. */
  update(definition: AgentDefinitionInput, options?: UpdateOptions): Promise<UpdateResult> {
    return updateSession(this.#link, this.id, definition, options);
  }

  /** Goes on with the session at rest as it stands, without a new prompt. */
  async continue(options?: ContinueOptions): Promise<Session<Output>> {
    const { runId } = await continueSession(this.#link, this.id, options);
    return new Session(this.#link, this.id, runId, this.#output);
  }

  /** Has the prompts of a loop answered once more, on a branch of its own. */
  async rerun(options?: RerunOptions): Promise<Session<Output>> {
    const { runId } = await rerunLoop(this.#link, this.id, options);
    return new Session(this.#link, this.id, runId, this.#output);
  }

  /** Begins a branch at a place, by reference. Nothing else changes; start, prompt and continue take its name. */
  fork(options?: ForkOptions): Promise<ForkedBranch> {
    return forkSession(this.#link, this.id, options);
  }

  /** Starts again from a place of the past, with another prompt, model or definition if you like. Files stay as they are. */
  async branch(options?: BranchOptions): Promise<Session<Output>> {
    const { runId } = await branchSession(this.#link, this.id, options);
    return new Session(this.#link, this.id, runId, this.#output);
  }

  /** Starts several branches from one place side by side, each with its own prompt or definition; all are kept. */
  explore(branches: readonly ExploredBranch[], options?: ExploreOptions): Promise<Exploration> {
    return exploreSession(this.#link, this.id, branches, options);
  }

  /** Moves the head of the session at rest to a place, back or forward again. The record keeps everything; files stay. */
  rewind({ to }: { readonly to: PositionOptions }): Promise<RewindResult> {
    return rewindSession(this.#link, this.id, to);
  }

  /** Its branches: where they begin, which loops are on them, which is the head. */
  branches(): Promise<BranchTree> {
    return readBranchTree(this.#link, this.id);
  }

  /** A new session of the same agent: its definition goes on, the conversation does not. */
  async newSession(id?: string): Promise<Session<Output>> {
    return new Session(
      this.#link,
      await createFollowingSession(this.#link, this.id, id),
      undefined,
      this.#output,
    );
  }

  /** A new session when this one was idle for longer; else nothing. */
  async rotateAfter(idleMs: number): Promise<Session<Output> | undefined> {
    const { session, isNew } = await findCurrentSession(this.#link, this.id, idleMs);
    return isNew ? new Session(this.#link, session, undefined, this.#output) : undefined;
  }

  /** Lets the loop that runs have more. Gives the limits that hold now. */
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

  /** All loops that were recorded, with their events as they are stored. */
  loops(): Promise<readonly LoopHistory[]> {
    return readLoops(this.#link, this.id);
  }

  /** What the model was sent for one answer, with where every block of it came from. */
  request(options?: RequestOptions): Promise<TurnRequest> {
    return readTurnRequest(this.#link, this.id, options);
  }

  /**
   * What happens, as it happens: events that say all by themselves, answers in the making among them, each with the cursor
   * from which a later reader, here or in another process, goes on.
   */
  events(options: EventsOptions = {}): AsyncIterable<SessionEvent> {
    return streamSessionEvents(this.#link, this.id, {
      ...(this.runId === undefined ? {} : { runId: this.runId }),
      ...options,
    });
  }

  /** What `events` is made of: recorded events as they are stored, and every piece of live output with its marks. */
  watch(options: WatchOptions = {}): AsyncIterable<WatchItem> {
    return watchSession(this.#link, this.id, {
      ...(this.runId === undefined ? {} : { runId: this.runId }),
      ...options,
    });
  }

  setQueueMode(queue: "steering" | "follow-up", mode: QueueMode): Promise<void> {
    return setQueueMode(this.#link, this.id, queue, mode);
  }

  clearQueues(queue: "steering" | "follow-up" | "all" = "all"): Promise<void> {
    return clearQueues(this.#link, this.id, queue);
  }

  /** The session whole: its loops with their messages, turns and events, how they hang together, and what it comes to. */
  record(): Promise<SessionRecordWithTotals> {
    return readSessionRecord(this.#link, this.id);
  }

  /** The lines of a file that `import` reads, here or elsewhere; safe while a run is open. */
  export(options?: ExportOptions): AsyncIterable<string> {
    return exportSession(this.#link, this.id, options);
  }

  /** With all agents below it. */
  delete(options?: DeleteOptions): Promise<DeleteResult> {
    return deleteSession(this.#link, this.id, options);
  }

  /** No retention policy takes it, or one may again. */
  setRetained(isRetained = true): Promise<void> {
    return setSessionRetained(this.#link, this.id, isRetained);
  }

  /** Where it stands, to go on from later, here with `restore` or elsewhere with `resume`. */
  checkpoint(): Promise<AgentSnapshot> {
    return createCheckpoint(this.#link, this.id);
  }

  restore(snapshot: AgentSnapshot): Promise<EditResult> {
    return restoreCheckpoint(this.#link, this.id, snapshot);
  }

  /** The conversation as a JSON array. */
  saveMessages(): Promise<string> {
    return saveMessages(this.#link, this.id);
  }

  /** Goes on from these instead, on a branch of their own; at rest only, as all that changes a conversation from outside. */
  restoreMessages(saved: string | readonly AgentMessage[]): Promise<EditResult> {
    return restoreMessages(this.#link, this.id, saved);
  }

  replaceMessages(messages: readonly AgentMessage[]): Promise<EditResult> {
    return restoreMessages(this.#link, this.id, messages);
  }

  appendMessages(...messages: readonly AgentMessage[]): Promise<EditResult> {
    return appendMessages(this.#link, this.id, messages);
  }

  /** Begins with nothing, on a branch of its own: what was said stays in the record. */
  clearMessages(): Promise<EditResult> {
    return clearMessages(this.#link, this.id);
  }

  /** Stops what runs, lets go of all that waits, and begins with nothing. */
  reset(): Promise<EditResult> {
    return resetSession(this.#link, this.id);
  }
}
