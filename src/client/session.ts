import type { ZodType } from "zod";
import type { AgentDefinitionInput, Limits, QueueMode } from "../schema/definition.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { Edited } from "../store/transcript/archive.ts";
import type { Link } from "./connection/link.ts";
import { type BranchTree, branchTree } from "./read/branches.ts";
import { currentSession, newSession } from "./read/follow-session.ts";
import { type LoopHistory, type MessagesOptions, readLoops, readMessages } from "./read/read.ts";
import { type WholeRecord, wholeRecord } from "./read/record.ts";
import { type RequestOptions, type TurnRequest, turnRequest } from "./read/request.ts";
import { type EventsOptions, type SessionEvent, sessionEvents } from "./read/session-events.ts";
import type { PlaceOptions } from "./read/spot.ts";
import { type WatchItem, type WatchOptions, watchSession } from "./read/watch.ts";
import { type AnswerOptions, answerCall } from "./runs/answer.ts";
import {
  type Answered,
  type ApproveOptions,
  approveCall,
  type RefuseOptions,
  refuseCall,
} from "./runs/approve.ts";
import { type Compacting, compactSession } from "./runs/compact.ts";
import {
  type ContinueOptions,
  continueSession,
  type RerunOptions,
  raiseLimits,
  rerunLoop,
} from "./runs/continue.ts";
import {
  type Exploration,
  type ExploredBranch,
  type ExploreOptions,
  exploreSession,
} from "./runs/explore.ts";
import { keepSession } from "./runs/keep.ts";
import { type SessionResult, withOutput } from "./runs/output.ts";
import { type Prompted, type PromptOptions, promptSession } from "./runs/prompt.ts";
import { awaitResult } from "./runs/result.ts";
import {
  clearQueues,
  type SendOptions,
  type Sent,
  sendWords,
  setQueueMode,
  stopSession,
} from "./runs/send.ts";
import { type MessageSent, type SendMessageOptions, sendMessage } from "./runs/send-message.ts";
import { type SessionStatus, sessionStatus } from "./runs/status.ts";
import { type Updated, type UpdateOptions, updateSession } from "./runs/update.ts";
import { type WaitingCall, waitingCalls } from "./runs/waiting-calls.ts";
import { type BranchOptions, branchSession } from "./sessions/branch-run.ts";
import { type AgentSnapshot, checkpoint, restoreCheckpoint } from "./sessions/checkpoint.ts";
import { type Deleted, type DeleteOptions, deleteSession } from "./sessions/delete.ts";
import {
  appendMessages,
  clearMessages,
  resetSession,
  restoreMessages,
  saveMessages,
} from "./sessions/edit.ts";
import { type ExportOptions, exportSession } from "./sessions/export.ts";
import { type ForkedBranch, type ForkOptions, forkSession } from "./sessions/fork.ts";
import { type Rewinding, rewindSession } from "./sessions/rewind.ts";

/** One session: a conversation that goes on over any number of runs. `Output` is what its results are read as. */
export class Session<Output = unknown> {
  readonly id: string;
  /** The run that this handle has started; `result`, `events` and `watch` are about it. Else about the newest. */
  readonly runId: string | undefined;
  readonly #link: Link;
  readonly #output: ZodType<Output> | undefined;

  constructor(link: Link, id: string, runId?: string, output?: ZodType<Output>) {
    this.#link = link;
    this.#output = output;
    this.id = id;
    this.runId = runId;
  }

  prompt(text: string, options?: PromptOptions): Promise<Prompted> {
    return promptSession(this.#link, this.id, text, options);
  }

  /** One message, whatever the session is doing: it opens, continues or prompts it; a running one is steered if you say so. */
  send(text: string, options?: SendMessageOptions): Promise<MessageSent> {
    return sendMessage(this.#link, this.id, text, options);
  }

  /** Words that the agent reads before its next answer. */
  steer(text: string, options?: SendOptions): Promise<Sent> {
    return sendWords(this.#link, "steer", this.id, text, options);
  }

  /** Words that the agent reads when it would stop. */
  followUp(text: string, options?: SendOptions): Promise<Sent> {
    return sendWords(this.#link, "follow-up", this.id, text, options);
  }

  /** Ends the run: the request to the vendor, the tools, then the loop. Gives whether a run was open. */
  stop(reason?: string): Promise<boolean> {
    return stopSession(this.#link, this.id, reason);
  }

  /** The calls that wait for a person, its own and those of all agents below it, with their arguments where the transcript lies on this machine. */
  approvals(): Promise<readonly WaitingCall[]> {
    return waitingCalls(this.#link, this.id);
  }

  /** Lets a call run that waits for a person; which one may be left out while only one waits. */
  approve(toolCallId?: string, options?: ApproveOptions): Promise<Answered> {
    return approveCall(this.#link, this.id, toolCallId, options);
  }

  /** Answers a call that waits for a person with no; the model is told the reason. */
  refuse(toolCallId?: string, options?: RefuseOptions): Promise<Answered> {
    return refuseCall(this.#link, this.id, toolCallId, options);
  }

  /** Answers what the tool of a waiting call asks a person; which call may be left out while only one waits. */
  answer(toolCallId?: string, options?: AnswerOptions): Promise<Answered> {
    return answerCall(this.#link, this.id, toolCallId, options);
  }

  /** Makes the context smaller: before the next answer of an open run, at once when the session is at rest. */
  compact(options?: { readonly focus?: string }): Promise<Compacting> {
    return compactSession(this.#link, this.id, options);
  }

  /** Moves it to another definition: a run that is at work before its next turn, a session at rest with its next run. */
  update(definition: AgentDefinitionInput, options?: UpdateOptions): Promise<Updated> {
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
  rewind({ to }: { readonly to: PlaceOptions }): Promise<Rewinding> {
    return rewindSession(this.#link, this.id, to);
  }

  /** Its branches: where they begin, which loops are on them, which is the head. */
  branches(): Promise<BranchTree> {
    return branchTree(this.#link, this.id);
  }

  /** A new session of the same agent: its definition goes on, the conversation does not. */
  async newSession(id?: string): Promise<Session<Output>> {
    return new Session(this.#link, await newSession(this.#link, this.id, id), undefined, this.#output);
  }

  /** A new session when this one was idle for longer; else nothing. */
  async rotateAfter(idleMs: number): Promise<Session<Output> | undefined> {
    const { session, isNew } = await currentSession(this.#link, this.id, idleMs);
    return isNew ? new Session(this.#link, session, undefined, this.#output) : undefined;
  }

  /** Lets the loop that runs have more. Gives the limits that hold now. */
  raiseLimits(limits: Partial<Limits>): Promise<Limits> {
    return raiseLimits(this.#link, this.id, limits);
  }

  status(): Promise<SessionStatus> {
    return sessionStatus(this.#link, this.id);
  }

  async result(options: { readonly signal?: AbortSignal } = {}): Promise<SessionResult<Output>> {
    const result = await awaitResult(this.#link, this.id, { runId: this.runId, ...options });
    return withOutput(this.#link, result, this.#output, options.signal);
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
    return turnRequest(this.#link, this.id, options);
  }

  /**
   * What happens, as it happens: events that say all by themselves, answers in the making among them, each with the cursor
   * from which a later reader, here or in another process, goes on.
   */
  events(options: EventsOptions = {}): AsyncIterable<SessionEvent> {
    return sessionEvents(this.#link, this.id, {
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
  record(): Promise<WholeRecord> {
    return wholeRecord(this.#link, this.id);
  }

  /** The lines of a file that `import` reads, here or elsewhere; safe while a run is open. */
  export(options?: ExportOptions): AsyncIterable<string> {
    return exportSession(this.#link, this.id, options);
  }

  /** With all agents below it. */
  delete(options?: DeleteOptions): Promise<Deleted> {
    return deleteSession(this.#link, this.id, options);
  }

  /** No retention policy takes it, or one may again. */
  keep(kept = true): Promise<void> {
    return keepSession(this.#link, this.id, kept);
  }

  /** Where it stands, to go on from later, here with `restore` or elsewhere with `resume`. */
  checkpoint(): Promise<AgentSnapshot> {
    return checkpoint(this.#link, this.id);
  }

  restore(snapshot: AgentSnapshot): Promise<Edited> {
    return restoreCheckpoint(this.#link, this.id, snapshot);
  }

  /** The conversation as a JSON array. */
  saveMessages(): Promise<string> {
    return saveMessages(this.#link, this.id);
  }

  /** Goes on from these instead, on a branch of their own; at rest only, as all that changes a conversation from outside. */
  restoreMessages(saved: string | readonly AgentMessage[]): Promise<Edited> {
    return restoreMessages(this.#link, this.id, saved);
  }

  replaceMessages(messages: readonly AgentMessage[]): Promise<Edited> {
    return restoreMessages(this.#link, this.id, messages);
  }

  appendMessages(...messages: readonly AgentMessage[]): Promise<Edited> {
    return appendMessages(this.#link, this.id, messages);
  }

  /** Begins with nothing, on a branch of its own: what was said stays in the record. */
  clearMessages(): Promise<Edited> {
    return clearMessages(this.#link, this.id);
  }

  /** Stops what runs, lets go of all that waits, and begins with nothing. */
  reset(): Promise<Edited> {
    return resetSession(this.#link, this.id);
  }
}
