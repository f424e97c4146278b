import type { Cost } from "../../core/budget/usage.ts";
import type { LoopPart } from "../../core/evaluation/loop-part.ts";
import type { Grant } from "../../core/permission/grants.ts";
import type { ViewSnapshot } from "../../core/view/view.ts";
import type { Limits } from "../../schema/definition.ts";
import type { Usage } from "../../schema/message.ts";
import type { ContinuationKind, EntryOrigin, LoopStatus, Outcome, SpawnRef } from "../../schema/record.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import type { ParallelGroup } from "./evaluation.ts";
import type { NewMessage } from "./session.ts";
import type { Step } from "./step.ts";
import type { StoreWrite } from "./store-write.ts";

// A loop: how it is opened and closed, and what is kept of it.

export type LoopOpening = {
  readonly step: Step;
  readonly atMs: number;
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  /** The middle of the loop id: `{session}.{segment}.{N}`; N counts per segment within the session, from 1. */
  readonly segment: string;
  readonly kind: ContinuationKind;
  /** The session is a sub-agent's: its first loop has the caller's as its parent (SUB-11). */
  readonly spawn?: SpawnRef | undefined;
  /** The loop is one of an evaluation's. Nothing of `at` and `inbox` is asked of it then. */
  readonly part?: LoopPart | undefined;
  /** Where the loop goes on; absent: the session's head (a new session: an empty branch named `main`). */
  readonly at?: { readonly branch: string; readonly position?: number | undefined } | undefined;
  /** Of the agent, if the session is new; a UUID. */
  readonly agentId?: string | undefined;
  /** Of the session, if this is its first loop; absent: a retention policy may take it. */
  readonly scope?: "persistent" | undefined;
  /** The first run of the chain that this one belongs to. Of a run that was reset it is another one. */
  readonly firstRun?: string | undefined;
  /**
   * What of the inbox comes first, with its words as they are to be stored; all of it, when absent. It leaves the inbox.
   * A loop of kind `compaction` takes nothing of it.
   */
  readonly inbox?: readonly NewMessage[] | undefined;
  /** What the run knows to be there, of loops before. */
  readonly expects?: { readonly branch: string; readonly length: number } | undefined;
  readonly prompts: readonly NewMessage[];
  /** Why nothing may join the conversation: the inbox stays as it is. */
  readonly rejected?: string | undefined;
  /** Kept as a text that the note of the opening step names by its hash. */
  readonly terms?: LoopTerms | undefined;
  /** The answer says which definition the loop was opened with: that of the first asking, whatever a later one says. */
  readonly tellsDefinition?: true | undefined;
  /** The hook that refused it; a filter when absent. */
  readonly rejectedBy?: string | undefined;
  /** Messages that this reason is about: they leave the inbox, and are kept where no model sees them. */
  readonly refused?: readonly NewMessage[] | undefined;
};

/**
 * What a loop was opened with and its definition does not say: its tools as a model is told of them, its limits, and how
 * an output is asked for where it is not a text.
 */
export type LoopTerms = {
  readonly tools: readonly ToolDefinition[];
  readonly limits: Limits;
  readonly output?: "native" | "final-tool";
  /** The same of each fallback, in the definition's order; absent where the output is a text, and in older records. */
  readonly fallbackOutputs?: readonly ("native" | "final-tool")[];
};

export type OpenedLoop = {
  readonly loopId: string;
  readonly parentLoopId?: string | undefined;
  readonly kind: ContinuationKind;
  readonly branch: string;
  /** Where the loop's entries begin: all before is what the model has seen in earlier loops. */
  readonly from: number;
  /** Estimated tokens of all before `from`. */
  readonly tokensBefore: number;
  /** What the newest loop that was closed before `from` has left of it; absent when all of it is shown as it is. */
  readonly view?: ViewSnapshot | undefined;
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
  readonly definitionHash?: string | undefined;
};

export type LoopClosing = StoreWrite & {
  readonly status: LoopStatus;
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** `null` when the price of a model is unknown. */
  readonly costUsd: Cost;
  readonly turns: number;
  /** Behind the loop's last entry. */
  readonly to: number;
  /** What a model sees of all before `to`; absent when it is all of it. */
  readonly view?: ViewSnapshot | undefined;
  /** What a person has allowed in the session so far; absent: as it was. */
  readonly grants?: readonly Grant[] | undefined;
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
  /** Absent while it runs; `null` when it is over and its cost is unknown. */
  readonly costUsd?: Cost | undefined;
  readonly turns?: number | undefined;
  /** The evaluation that it is one of. */
  readonly evaluation?: string | undefined;
  /** Of an evaluation's branch, when that is over. */
  readonly parallel?: ParallelGroup | undefined;
};
