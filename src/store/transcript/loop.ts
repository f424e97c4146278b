import type { Cost } from "../../core/budget/usage.ts";
import type { LoopPart } from "../../core/evaluation/loop-part.ts";
import type { Grant } from "../../core/permission/grants.ts";
import type { ViewSnapshot } from "../../core/view/view.ts";
import type { Limits } from "../../schema/limits.ts";
import type { Usage } from "../../schema/message.ts";
import type {
  ContinuationKind,
  EntryOrigin,
  LoopStatus,
  Outcome,
  SessionTitle,
  SpawnRef,
} from "../../schema/record.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import type { ParallelGroup } from "./evaluation.ts";
import type { NewMessage } from "./session.ts";
import type { Step } from "./step.ts";
import type { StoreWrite } from "./store-write.ts";

// A loop: its opening, its closing, and its record.

export type LoopOpening = {
  readonly step: Step;
  readonly atMs: number;
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  /** The middle of the loop id: `{session}.{segment}.{N}`; N counts per segment within the session, from 1. */
  readonly segment: string;
  readonly kind: ContinuationKind;
  /** The call that created a sub-agent's session: its first loop has the caller's loop as its parent (SUB-11). */
  readonly spawn?: SpawnRef | undefined;
  /** Set if the loop is part of an evaluation. `at` and `inbox` are then ignored. */
  readonly part?: LoopPart | undefined;
  /** Where the loop begins; by default the session's head (for a new session an empty branch named `main`). */
  readonly at?: { readonly branch: string; readonly position?: number | undefined } | undefined;
  /** The agent's id, a UUID, if the session is new. */
  readonly agentId?: string | undefined;
  /** The session's scope, if this is its first loop. If absent, a retention policy may delete the session. */
  readonly scope?: "persistent" | undefined;
  /** The first run of the chain that this run belongs to. For a run that was reset it is another run. */
  readonly firstRun?: string | undefined;
  /**
   * The messages of the inbox that come first, with the text to store; by default all of them. They leave the inbox. A loop
   * of kind `compaction` takes none.
   */
  readonly inbox?: readonly NewMessage[] | undefined;
  /** The entries of earlier loops that the run expects. */
  readonly expectedEnd?: { readonly branch: string; readonly length: number } | undefined;
  readonly prompts: readonly NewMessage[];
  /** The session's title, if it has none or only a derived one; by default the first words of the first message. */
  readonly title?: SessionTitle | undefined;
  /** The session works for another run: the agent's name precedes a title that is derived. */
  readonly isPart?: true | undefined;
  /** Why the prompts are rejected. The inbox is unchanged. */
  readonly rejected?: string | undefined;
  /** Stored as a text, whose hash is in the note of the opening step. */
  readonly terms?: LoopTerms | undefined;
  /** The result contains the definition of the loop: that of the first request, even if a repeated one differs. */
  readonly returnsDefinition?: true | undefined;
  /** The hook that rejected the prompts; if absent, a filter did. */
  readonly rejectedBy?: string | undefined;
  /** The rejected messages. They leave the inbox and are stored, but no model sees them. */
  readonly rejectedMessages?: readonly NewMessage[] | undefined;
};

/**
 * The terms of a loop that its definition does not contain: the tool descriptions for the model, the limits, and how a
 * structured output is requested.
 */
export type LoopTerms = {
  readonly tools: readonly ToolDefinition[];
  readonly limits: Limits;
  readonly output?: "native" | "final-tool";
  /** The output mode of each fallback, in the definition's order; absent if the output is a text, and in older records. */
  readonly fallbackOutputs?: readonly ("native" | "final-tool")[];
};

export type OpenedLoop = {
  readonly loopId: string;
  readonly parentLoopId?: string | undefined;
  readonly kind: ContinuationKind;
  readonly branch: string;
  /** The position where the loop's entries begin. The entries before it belong to earlier loops. */
  readonly from: number;
  /** The estimated number of tokens of all entries before `from`. */
  readonly tokensBefore: number;
  /** The view of the newest loop that was closed before `from`; absent if all entries are shown unchanged. */
  readonly view?: ViewSnapshot | undefined;
  /** The grants of users in the session, as stored by the loop that was closed last. */
  readonly grants?: readonly Grant[] | undefined;
  /** The new entries, in order of position from `from`. */
  readonly entries: readonly {
    readonly origin: EntryOrigin;
    readonly messageId?: string;
    readonly tokens: number;
    readonly isRejected?: true;
  }[];
  /** As decided when the loop was opened, even if a repeated request differs. */
  readonly rejected?: string | undefined;
  readonly rejectedBy?: string | undefined;
  readonly definitionHash?: string | undefined;
  /** The session's title; absent if it has none. */
  readonly title?: SessionTitle | undefined;
};

export type LoopClosing = StoreWrite & {
  readonly status: LoopStatus;
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** `null` if the price of a model is unknown. */
  readonly costUsd: Cost;
  readonly turns: number;
  /** The position after the loop's last entry. */
  readonly to: number;
  /** The view that a model has of all entries before `to`; absent if it is all of them. */
  readonly view?: ViewSnapshot | undefined;
  /** The grants of users in the session so far; unchanged if absent. */
  readonly grants?: readonly Grant[] | undefined;
};

/** A loop, as the transcript stores it. */
export type LoopRecord = {
  readonly loopId: string;
  readonly session: string;
  readonly parentLoopId?: string | undefined;
  /** How the loop began. */
  readonly kind: ContinuationKind;
  readonly definitionHash: string;
  /** The vendor's name for the model. */
  readonly model: string;
  readonly branch: string;
  /** The position of the loop's first entry. */
  readonly from: number;
  /** Whether the loop runs, or how it ended. */
  readonly status: LoopStatus;
  readonly startedAtMs: number;
  readonly endedAtMs?: number | undefined;
  readonly outcome?: Outcome | undefined;
  readonly usage?: Usage | undefined;
  /** Absent while the loop runs; `null` if it has ended and its cost is unknown. */
  readonly costUsd?: Cost | undefined;
  /** The number of turns; absent while the loop runs. */
  readonly turns?: number | undefined;
  /** The evaluation that the loop is part of. */
  readonly evaluation?: string | undefined;
  /** The group of a closed evaluation's branch. */
  readonly parallel?: ParallelGroup | undefined;
};
