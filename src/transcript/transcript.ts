import type { Grant } from "../core/approvals.ts";
import type { LeftView } from "../core/view.ts";
import type { AgentDefinition, Limits } from "../schema/definition.ts";
import type { Usage } from "../schema/message.ts";
import type {
  ContinuationKind,
  Entry,
  EntryOrigin,
  LoopEvent,
  LoopStatus,
  Outcome,
} from "../schema/record.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { Claimed, Step, StepKey, StepRecord } from "./step.ts";
import type { Outbox, Place, Stored, StoreWrite } from "./write.ts";

/** A message of a person on its way into the conversation. */
export type NewMessage = {
  readonly id: string;
  readonly text: string;
  readonly atMs: number;
  /** How it stands in the record when it is a prompt of a loop; `prompt` when absent. */
  readonly origin?: EntryOrigin | undefined;
};

export type LoopOpening = {
  readonly step: Step;
  readonly atMs: number;
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  /** The middle of the loop id: `{session}.{segment}.{N}`; N counts per segment within the session, from 1. */
  readonly segment: string;
  readonly kind: ContinuationKind;
  /** Where the loop goes on; absent: the session's head (a new session: an empty branch named `main`). */
  readonly at?: { readonly branch: string; readonly position: number } | undefined;
  /**
   * What of the inbox comes first, with its words as they are to be stored; all of it, when absent. It leaves the inbox.
   * A loop of kind `compaction` takes nothing of it.
   */
  readonly inbox?: readonly NewMessage[] | undefined;
  readonly prompts: readonly NewMessage[];
  /** Why nothing may join the conversation: the inbox stays as it is. */
  readonly rejected?: string | undefined;
  /** Kept as a text that the note of the opening step names by its hash. */
  readonly terms?: LoopTerms | undefined;
  /** The hook that refused it; a filter when absent. */
  readonly rejectedBy?: string | undefined;
  /** Messages that this reason is about: they leave the inbox, and are kept where no model sees them. */
  readonly refused?: readonly NewMessage[] | undefined;
};

/** What a loop was opened with and its definition does not say: its tools as a model is told of them, and its limits. */
export type LoopTerms = { readonly tools: readonly ToolDefinition[]; readonly limits: Limits };

export type LoopOpened = {
  readonly loopId: string;
  readonly parentLoopId?: string | undefined;
  readonly kind: ContinuationKind;
  readonly branch: string;
  /** Where the loop's entries begin: all before is what the model has seen in earlier loops. */
  readonly from: number;
  /** Estimated tokens of all before `from`. */
  readonly tokensBefore: number;
  /** What the newest loop that was closed before `from` has left of it; absent when all of it is shown as it is. */
  readonly view?: LeftView | undefined;
  /** What a person has allowed in the session, as the loop that was closed last has said it. */
  readonly grants?: readonly Grant[] | undefined;
  /** The new entries, in order of position from `from`. */
  readonly entries: readonly {
    readonly origin: EntryOrigin;
    readonly messageId?: string;
    readonly tokens: number;
    readonly refused?: true;
  }[];
  /** As it was decided when the loop was opened, whatever a later asking says. */
  readonly rejected?: string | undefined;
  readonly rejectedBy?: string | undefined;
};

export type LoopClosing = StoreWrite & {
  readonly status: LoopStatus;
  readonly outcome: Outcome;
  readonly usage: Usage;
  readonly costUsd: number;
  readonly turns: number;
  /** Behind the loop's last entry. */
  readonly to: number;
  /** What a model sees of all before `to`; absent when it is all of it. */
  readonly view?: LeftView | undefined;
  /** What a person has allowed in the session so far; absent: as it was. */
  readonly grants?: readonly Grant[] | undefined;
};

export type SessionRecord = {
  readonly id: string;
  readonly agentName: string;
  readonly definitionHash: string;
  readonly model: string;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number;
  readonly headBranch: string;
  readonly loops: number;
  readonly status: LoopStatus;
};

export type LoopRecord = {
  readonly loopId: string;
  readonly session: string;
  readonly parentLoopId?: string | undefined;
  readonly kind: ContinuationKind;
  readonly definitionHash: string;
  readonly model: string;
  readonly branch: string;
  readonly from: number;
  readonly status: LoopStatus;
  readonly startedAtMs: number;
  readonly endedAtMs?: number | undefined;
  readonly outcome?: Outcome | undefined;
  readonly usage?: Usage | undefined;
  readonly costUsd?: number | undefined;
  readonly turns?: number | undefined;
};

export type BranchRecord = {
  readonly id: string;
  readonly parent?: { readonly branch: string; readonly position: number } | undefined;
};

/** A worker process, as it signed itself in. */
export type WorkerProcess = {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startTime: string;
  readonly namespace: string;
  readonly taskQueue: string;
};

/** What a process that is gone has left behind. */
export type Remains = {
  /** Activities that it had claimed and never answered. Local ones are not among them. */
  readonly activities: readonly (StepKey & {
    readonly session: string;
    readonly activityId: string;
    /** How often the step was claimed. */
    readonly executions: number;
  })[];
  /** Runs that it worked on and that have not closed: their sticky queue may be its own. */
  readonly runs: readonly { readonly session: string; readonly run: string }[];
};

export interface Transcript {
  /** Stores a definition under the hash of its canonical JSON. Again: the same hash, nothing new. */
  saveDefinition(definition: AgentDefinition): Promise<string>;
  definition(hash: string): Promise<AgentDefinition | undefined>;

  /** Stores a text under its hash (SHA-256, hex), under a lease until an entry names it. */
  putText(text: string, atMs: number): Promise<string>;
  text(hash: string): Promise<string | undefined>;

  /** Opens a loop: session, branch and loop record, the inbox, the prompts. Asked again: the same answer. */
  openLoop(opening: LoopOpening): Promise<LoopOpened>;
  /** Writes the outbox and takes the step, or gives the result that an earlier execution stored. */
  claim(step: Step, place: Place, outbox: Outbox, atMs: number): Promise<Claimed>;
  /** Gives a claim back after a failure that may be tried again: nobody will take it for lost. */
  release(step: Step): Promise<void>;
  /** Adds to a claim what is needed to end what it has started. */
  noteGroup(step: Step, group: { pgid: number; startTime: string }): Promise<void>;
  /** A small durable note of a tool about its own call; survives lost executions. */
  note(step: StepKey): Promise<string | undefined>;
  setNote(step: Step, text: string): Promise<void>;
  /** Writes outbox, entries and result in one go. Without a claim before, it makes one: for steps that are short. */
  store(write: StoreWrite): Promise<Stored>;
  /** Like `store`, and puts messages into the session's inbox, in order, each id once. */
  storeInbox(write: StoreWrite, messages: readonly NewMessage[]): Promise<Stored>;
  closeLoop(closing: LoopClosing): Promise<Stored>;

  session(id: string): Promise<SessionRecord | undefined>;
  /** Newest activity first. */
  sessions(filter: {
    limit: number;
    agentName?: string;
    status?: LoopStatus;
  }): Promise<readonly SessionRecord[]>;
  /** In order of start. */
  loops(session: string): Promise<readonly LoopRecord[]>;
  branches(session: string): Promise<readonly BranchRecord[]>;
  /** The unbroken run of entries from `from`, not including `to`, ancestors' entries included. */
  entries(session: string, branch: string, from: number, to: number): Promise<readonly Entry[]>;
  /** How many entries a branch has, ancestors' included. */
  length(session: string, branch: string): Promise<number>;
  /** The unbroken run of a loop's events from `from`. */
  events(loopId: string, from: number): Promise<readonly LoopEvent[]>;
  inbox(session: string): Promise<readonly NewMessage[]>;
  steps(session: string): Promise<readonly StepRecord[]>;

  signIn(process: WorkerProcess): Promise<void>;
  signOut(processId: string): Promise<void>;
  processes(host: string): Promise<readonly WorkerProcess[]>;
  remains(processId: string): Promise<Remains>;

  close(): Promise<void>;
}
