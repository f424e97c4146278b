import type {
  ApprovalSettings,
  Delegation,
  Limits,
  QueueMode,
  RepeatSettings,
  RevertSettings,
  SubAgentLimits,
} from "../../../schema/definition.ts";
import type { HookPoint } from "../../../schema/hooks.ts";
import type { StopReason, Usage } from "../../../schema/message.ts";
import type { PermissionPolicy } from "../../../schema/permission.ts";
import type {
  ContinuationKind,
  DefinitionChange,
  EntryOrigin,
  ModelFallback,
} from "../../../schema/record.ts";
import type { ReplayClass, ToolStrategy } from "../../../schema/tool.ts";
import type { Cost } from "../../budget/usage.ts";
import type { CallFacts } from "../../permission/call-facts.ts";
import type { Grant } from "../../permission/grants.ts";
import type { Span, ViewSnapshot } from "../../view/view.ts";
import type { ViewRequest } from "../../view/view-request.ts";
import type { NextRound } from "../task.ts";

// What crosses history instead of a conversation: references, numbers and verdicts.

/** What the machine must know of a tool to have it run. */
export type ToolFacts = {
  readonly replay: ReplayClass;
  /** May run as a local activity. */
  readonly quick: boolean;
  readonly timeoutMs?: number;
  /** A person is asked before each call, unless a rule of the policy allows it. */
  readonly confirm?: boolean;
  /** Is given the view, and may ask for another one; such calls of one answer run one after the other. */
  readonly view?: true;
  /** It is an agent: a call is a run of its own. */
  readonly child?: {
    readonly definitionHash: string;
    /** Its own; what its caller has left counts too. */
    readonly limits: SubAgentLimits;
    /** Sub-agents that it may start in turn; absent: none. */
    readonly delegation?: Delegation;
  };
};

/** The loop as it stands in the record. */
export type OpenedDigest = {
  readonly loopId: string;
  readonly parentLoopId?: string;
  readonly kind: ContinuationKind;
  readonly branch: string;
  /** The loop's first position. */
  readonly from: number;
  readonly tokensBefore: number;
  /** What earlier loops have left of all before `from`; absent when it is shown as it is. */
  readonly view?: ViewSnapshot;
  /** What a person has allowed in earlier runs of the session. */
  readonly grants?: readonly Grant[];
  readonly entries: readonly {
    readonly origin: EntryOrigin;
    readonly messageId?: string;
    readonly tokens: number;
    /** A filter has refused it: it is kept in the record, where no model sees it. */
    readonly refused?: true;
  }[];
  /**
   * Why the prompts did not join the conversation: at most 512 bytes, free of secrets. Then there are no entries but
   * that of a message which was refused by itself.
   */
  readonly rejected?: string;
  /** The hook that has refused the loop, before it began. Absent: a filter has rejected its prompts. */
  readonly rejectedBy?: string;
};

/** What the loop runs with: the part of its definition that the machine decides by. */
export type PinnedDigest = {
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  readonly limits: Limits;
  /** How far it may hand tasks on; absent where it has no sub-agents. */
  readonly delegation?: Delegation;
  readonly toolStrategy: ToolStrategy;
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly maxRetries: number;
  readonly tools: Readonly<Record<string, ToolFacts>>;
  /** Where this run's workspace lies, when that is not the workflow's own queue. */
  readonly toolQueue?: string;
  /** Absent in runs that began before there was a policy: everything runs. */
  readonly permissions?: PermissionPolicy;
  readonly approvals?: ApprovalSettings;
  /** Absent: the context is never made smaller. */
  readonly context?: ContextBounds;
  /** Nudges in a row (IRON-02). Absent: none is given. */
  readonly nudges?: number;
  /** Absent in runs that began before there was a bound for calls that fail again and again. */
  readonly repeats?: RepeatSettings;
  /** Points at which the definition has hooks. Absent: none. */
  readonly hooks?: readonly HookPoint[];
  /** Absent: the tool to go back is not offered. */
  readonly revert?: RevertSettings;
  /** The definition names input filters: words that wait are shown to them before a turn takes them up (PHI-08). */
  readonly filters?: true;
};

/** What `open-loop` found and pinned. */
export type LoopDigest = OpenedDigest & PinnedDigest & { readonly warnings: readonly string[] };

/** One call of a model's answer. The arguments stay in the transcript. */
export type CallDigest = {
  readonly id: string;
  readonly name: string;
  /** A few words for the timeline: the command, the path. */
  readonly summary: string;
  /** Why the arguments do not fit the tool's schema; for the model. */
  readonly invalid?: string;
  /** What was made of a call that was not quite right: at most 256 bytes. */
  readonly note?: string;
  /** It calls the final tool: it is judged, never run. */
  readonly final?: true;
  /** What a policy must know of it; absent for tools that touch neither paths nor commands. */
  readonly facts?: CallFacts;
};

/** Whether an answer that claims to be the last is what the definition asks for (SO-01). */
export type OutputVerdict =
  | { readonly ok: true }
  /** What was found and what was expected: at most 512 bytes, free of secrets; for the model. */
  | { readonly ok: false; readonly problems: string };

export type ModelDigest = {
  readonly branch: string;
  readonly stopReason: StopReason;
  readonly usage: Usage;
  /** `null` when the model's prices are unknown. */
  readonly costUsd: Cost;
  /** Estimated tokens of the stored message. */
  readonly tokens: number;
  readonly calls: readonly CallDigest[];
  /** The beginning of the text, at most 256 bytes; of a run that shows no words, empty. */
  readonly preview: string;
  /** There is a text, and the preview does not show it. */
  readonly withheld?: true;
  /** The answer is the vendor's word that the context does not fit (OVF-04). */
  readonly overflow?: boolean;
  /** The text announces a tool call, one could have been made, and none was (IRON-10). */
  readonly announces?: true;
  /** Absent where the output is a text, and for an answer that goes on with calls. */
  readonly output?: OutputVerdict;
  /** Times that the vendor was asked within this generation. */
  readonly attempts: number;
  /** Another model than the agent's own has answered. */
  readonly fellBack?: ModelFallback;
};

export type ToolDigest = {
  readonly branch: string;
  readonly isError: boolean;
  readonly tokens: number;
  readonly preview: string;
  /** An `unsafe` tool's earlier execution was lost: the result says that its outcome is unknown. */
  readonly outcomeUnknown?: boolean;
  readonly childLoopId?: string;
  /** What the call wants of the view; the machine grants it when the batch is over. */
  readonly request?: ViewRequest;
  /** How the agent wants its work to go on; its run's report says so. */
  readonly rest?: NextRound;
  /** There is no result yet: the tool asks a person, and is called again with the answer. */
  readonly asks?: QuestionRef;
};

/** Hash of the text that holds what a tool asks a person. */
export type QuestionRef = string;

/** What the machine must know to notice that a context has grown. */
type ContextBounds = {
  /** Tokens of messages; CTX-09. */
  readonly compactAbove: number;
};

/** A smaller view. Its texts stand in the transcript, in the entry that the compaction has written. */
export type CompactDigest = WrittenDigest & {
  /** Absent when nothing could be made smaller: then nothing was written. */
  readonly spans?: readonly Span[];
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly loopsCompacted: number;
  /** What is wrong with what an application's strategy wants: at most 512 bytes, free of secrets. There are no spans then. */
  readonly refused?: string;
  /** Of a model that was asked for a text. */
  readonly usage?: Usage;
  readonly costUsd?: Cost;
  /** Fallbacks that were asked for it. */
  readonly fellBack?: readonly ModelFallback[];
};

/** What hooks have said. Names have at most 128 bytes, reasons 512, words for the model 2 KiB; free of secrets. */
export type HookResult =
  /** `notices`: words for the model, for the turn that begins. */
  | { readonly type: "yes"; readonly notices?: readonly string[] }
  | { readonly type: "no"; readonly hook: string; readonly reason: string }
  | { readonly type: "end"; readonly hook: string; readonly text: string }
  | { readonly type: "go-on"; readonly hook: string; readonly text?: string };

export type HookDigest = WrittenDigest & {
  /** One for each call that was asked about, in the order of the question; else one. */
  readonly words: readonly HookResult[];
  /** Hooks that gave no answer: for people. At most eight. */
  readonly failures?: readonly { readonly hook: string; readonly how: string }[];
};

/** What the filters say of one message. A reason and a warning have at most 512 bytes, and no secret. */
export type InputVerdict = { readonly id: string } & (
  | { readonly type: "pass" }
  | { readonly type: "warn"; readonly text: string }
  | { readonly type: "reject"; readonly reason: string }
);

/** In the order of the messages, and no further than the first that is rejected. */
export type FilterDigest = WrittenDigest & { readonly verdicts: readonly InputVerdict[] };

/** Whether the run could be moved to another definition, and what it runs with then. */
export type DefinitionUpdateDigest = WrittenDigest &
  (
    | {
        readonly type: "moved";
        readonly pinned: PinnedDigest;
        /** Those that are other ones than before. */
        readonly limits: Partial<Limits>;
        readonly changes: readonly DefinitionChange[];
        readonly warnings: readonly string[];
        /** Hash of the text that says what the model is offered from here on. */
        readonly terms: string;
      }
    /** At most 512 bytes, free of secrets. */
    | { readonly type: "refused"; readonly reason: string }
  );

/** The answer of a step that only writes. */
export type WrittenDigest = { readonly branch: string };

export type ClosedDigest = WrittenDigest & {
  /** The last answer's text, at most 32 KiB; of a run that ends with a report, its beginning. */
  readonly text?: string;
  /** Where that answer stands, whole. */
  readonly position?: number;
  /** The answer is a structured output, and `text` its JSON: whole, or cut because it is longer. */
  readonly json?: "whole" | "cut";
  /** Of a sub-agent's loop: the last answer that has a text, where it stands and what it is estimated at. */
  readonly words?: { readonly position: number; readonly tokens: number };
};

/** How an activity failed for good, in words that fit history. */
export type Failure = {
  /** The failure type without its room: `rate-limited`, `auth`, `overflow`, `definition`, … */
  readonly fault: string;
  /** What was tried, on what, what came back: at most 1 KiB. */
  readonly message: string;
};
