import type { Limits, QueueMode } from "../schema/definition.ts";
import type { StopReason, Usage } from "../schema/message.ts";
import type { ContinuationKind, EntryOrigin } from "../schema/record.ts";
import type { ReplayClass, ToolStrategy } from "../schema/tool.ts";

// What crosses history instead of a conversation: references, numbers and verdicts.

/** What the machine must know of a tool to have it run. */
export type ToolFacts = {
  readonly replay: ReplayClass;
  /** May run as a local activity. */
  readonly quick: boolean;
  readonly timeoutMs?: number;
};

/** What `open-loop` found and pinned. */
export type LoopDigest = {
  readonly loopId: string;
  readonly parentLoopId?: string;
  readonly kind: ContinuationKind;
  readonly branch: string;
  /** The loop's first position. */
  readonly from: number;
  readonly tokensBefore: number;
  readonly entries: readonly {
    readonly origin: EntryOrigin;
    readonly messageId?: string;
    readonly tokens: number;
  }[];
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  readonly limits: Limits;
  readonly toolStrategy: ToolStrategy;
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly maxRetries: number;
  readonly tools: Readonly<Record<string, ToolFacts>>;
  /** Where this run's workspace lies, when that is not the workflow's own queue. */
  readonly toolQueue?: string;
  readonly warnings: readonly string[];
};

/** One call of a model's answer. The arguments stay in the transcript. */
export type CallDigest = {
  readonly id: string;
  readonly name: string;
  /** A few words for the timeline: the command, the path. */
  readonly summary: string;
  /** Why the arguments do not fit the tool's schema; for the model. */
  readonly invalid?: string;
};

export type ModelDigest = {
  readonly branch: string;
  readonly stopReason: StopReason;
  readonly usage: Usage;
  readonly costUsd: number;
  /** Estimated tokens of the stored message. */
  readonly tokens: number;
  readonly calls: readonly CallDigest[];
  /** The beginning of the text, at most 256 bytes. */
  readonly preview: string;
  /** Times that the vendor was asked within this generation. */
  readonly attempts: number;
};

export type ToolDigest = {
  readonly branch: string;
  readonly isError: boolean;
  readonly tokens: number;
  readonly preview: string;
  /** An `unsafe` tool's earlier execution was lost: the result says that its outcome is unknown. */
  readonly outcomeUnknown?: boolean;
  readonly childLoopId?: string;
};

/** The answer of a step that only writes. */
export type WrittenDigest = { readonly branch: string };

export type ClosedDigest = WrittenDigest & {
  /** The last answer's text, at most 32 KiB. */
  readonly text?: string;
  /** Where that answer stands, whole. */
  readonly position?: number;
};

/** How an activity failed for good, in words that fit history. */
export type Failure = {
  /** The failure type without its room: `rate-limited`, `auth`, `overflow`, `definition`, … */
  readonly fault: string;
  /** What was tried, on what, what came back: at most 1 KiB. */
  readonly message: string;
};
