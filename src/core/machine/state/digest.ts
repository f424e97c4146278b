import type { ApprovalSettings, Delegation, QueueMode } from "../../../schema/definition.ts";
import type { DefinitionChange } from "../../../schema/definition-change.ts";
import type { HookPoint } from "../../../schema/hooks.ts";
import type { Limits, SubAgentLimits } from "../../../schema/limits.ts";
import type { ModelFallback } from "../../../schema/loop-event.ts";
import type { StopReason, Usage } from "../../../schema/message.ts";
import type { PermissionPolicy } from "../../../schema/permission.ts";
import type { ContinuationKind, EntryOrigin, SessionTitle } from "../../../schema/record.ts";
import type { RepeatSettings, RevertSettings } from "../../../schema/recovery.ts";
import type { SandboxMode } from "../../../schema/sandbox.ts";
import type { ReplayClass, ToolStrategy } from "../../../schema/tool.ts";
import type { Cost } from "../../budget/usage.ts";
import type { CallFacts } from "../../permission/call-facts.ts";
import type { Grant } from "../../permission/grants.ts";
import type { Span, ViewSnapshot } from "../../view/view.ts";
import type { ViewRequest } from "../../view/view-request.ts";
import type { NextRound } from "./task.ts";

// What crosses history instead of a conversation: references, numbers and verdicts.

/** What the machine must know of a tool to run it. */
export type ToolFacts = {
  readonly replay: ReplayClass;
  /** The tool may run as a local activity. */
  readonly quick: boolean;
  readonly timeoutMs?: number;
  /** Each call needs approval, unless a rule of the policy allows it. */
  readonly confirm?: boolean;
  /** The tool receives the view and may request another one; such calls of one answer run one after the other. */
  readonly view?: true;
  /** The worker has no activity of the tool's name: the activity of a call is `call-tool`. */
  readonly isUnregistered?: true;
  /** The sandbox in which the processes of its calls run. Absent: the tool starts none, or an earlier release opened the loop. */
  readonly sandbox?: SandboxMode;
  /** The tool is an agent: a call is a run of its own. */
  readonly child?: {
    readonly definitionHash: string;
    /** Its own limits; what its caller has left also counts. */
    readonly limits: SubAgentLimits;
    /** The sub-agents that it may start itself; absent: none. */
    readonly delegation?: Delegation;
    /** A call may set its own maximum of turns. */
    readonly acceptsMaxTurns?: true;
  };
};

/** The loop as the record has it. */
export type OpenedDigest = {
  readonly loopId: string;
  readonly parentLoopId?: string;
  readonly kind: ContinuationKind;
  readonly branch: string;
  /** The loop's first position. */
  readonly from: number;
  readonly tokensBefore: number;
  /** What earlier loops have left of everything before `from`; absent when it is visible and unchanged. */
  readonly view?: ViewSnapshot;
  /** What the user has allowed in earlier runs of the session. */
  readonly grants?: readonly Grant[];
  readonly entries: readonly {
    readonly origin: EntryOrigin;
    readonly messageId?: string;
    readonly tokens: number;
    /** A filter has rejected it: it is stored in the record, where no model sees it. */
    readonly isRejected?: true;
  }[];
  /**
   * Why the prompts did not join the conversation: at most 512 bytes, free of secrets. Then there is no entry except that
   * of a message that was rejected itself.
   */
  readonly rejected?: string;
  /** The hook that has rejected the loop before it began. Absent: a filter has rejected its prompts. */
  readonly rejectedBy?: string;
  /** The session's title, if Temporal displays it. */
  readonly title?: SessionTitle;
  /** The model is to give the session a title when the loop is answered. */
  readonly asksForTitle?: true;
};

/** What the loop runs with: the part of its definition by which the machine decides. */
export type PinnedDigest = {
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  readonly limits: Limits;
  /** How far it may delegate tasks; absent when it has no sub-agents. */
  readonly delegation?: Delegation;
  readonly toolStrategy: ToolStrategy;
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly maxRetries: number;
  readonly tools: Readonly<Record<string, ToolFacts>>;
  /** The sandbox of its processes, where a tool states no other. Absent in loops that an earlier release opened. */
  readonly sandbox?: SandboxMode;
  /** The task queue of this run's workspace, when it is not the workflow's own queue. */
  readonly toolQueue?: string;
  /** Absent in runs that began before there was a policy: every call runs. */
  readonly permissions?: PermissionPolicy;
  readonly approvals?: ApprovalSettings;
  /** Absent: the context is never made smaller. */
  readonly context?: ContextBounds;
  /** The maximum number of nudges in a row (IRON-02). Absent: none. */
  readonly nudges?: number;
  /** Absent in runs that began before repeated failures had a limit. */
  readonly repeatedFailures?: RepeatSettings;
  /** The points at which the definition has hooks. Absent: none. */
  readonly hooks?: readonly HookPoint[];
  /** Absent: the tool to go back is not offered. */
  readonly revert?: RevertSettings;
  /** The definition has input filters: they check waiting messages before a turn takes them (PHI-08). */
  readonly hasFilters?: true;
};

/** What `open-loop` found and pinned. */
export type LoopDigest = OpenedDigest & PinnedDigest & { readonly warnings: readonly string[] };

/** One call of a model's answer. The arguments stay in the transcript. */
export type CallDigest = {
  readonly id: string;
  readonly name: string;
  /** A short label for the timeline: the command, the path. */
  readonly summary: string;
  /** Why the arguments do not match the tool's schema; for the model. */
  readonly invalidReason?: string;
  /** How a slightly invalid call was repaired: at most 256 bytes. */
  readonly note?: string;
  /** The call is to the final tool: it is judged, never run. */
  readonly isFinal?: true;
  /** The maximum of turns that a call of a sub-agent has set, clamped. */
  readonly maxTurns?: number;
  /** What a policy must know of it; absent for tools that touch neither paths nor commands. */
  readonly facts?: CallFacts;
};

/** Whether an answer that claims to be the last one is what the definition requires (SO-01). */
export type OutputVerdict =
  | {
      readonly ok: true;
      /** What was repaired in it: at most 10 lines of 128 bytes, free of secrets; absent for nothing. */
      readonly repairs?: readonly string[];
    }
  /** What was found and what was expected, for the model: at most 512 bytes, free of secrets. */
  | { readonly ok: false; readonly problems: string };

export type ModelDigest = {
  readonly branch: string;
  readonly stopReason: StopReason;
  readonly usage: Usage;
  /** `null` when the model's prices are unknown. */
  readonly costUsd: Cost;
  /** The estimated tokens of the stored message. */
  readonly tokens: number;
  readonly calls: readonly CallDigest[];
  /** The beginning of the text, at most 256 bytes; empty in a run with redacted content. */
  readonly preview: string;
  /** There is a text, but the preview does not contain it. */
  readonly isWithheld?: true;
  /** The answer is the vendor's report that the context does not fit (OVF-04). */
  readonly isOverflow?: boolean;
  /** The text announces a tool call, one could have been made, and none was (IRON-10). */
  readonly announcesCall?: true;
  /** Absent when the output is a text, and for an answer that continues with calls. */
  readonly outputVerdict?: OutputVerdict;
  /** How often the vendor was called within this generation. */
  readonly attempts: number;
  /** Another model than the agent's own has answered. */
  readonly fallback?: ModelFallback;
};

export type ToolDigest = {
  readonly branch: string;
  readonly isError: boolean;
  readonly tokens: number;
  readonly preview: string;
  /** An earlier execution of an `unsafe` tool was lost: the result says that its outcome is unknown. */
  readonly outcomeUnknown?: boolean;
  readonly childLoopId?: string;
  /** The call's request for another view, which the machine grants when the batch ends. */
  readonly viewRequest?: ViewRequest;
  /** How the agent wants its work to continue, for its run's report. */
  readonly nextRound?: NextRound;
  /** The call ends its loop. The reason has at most 512 bytes, and is empty in a run with redacted content. */
  readonly endsLoop?: { readonly type: "paused" | "handoff"; readonly reason: string };
  /** There is no result yet: the tool asks the user, and is called again with the answer. */
  readonly question?: QuestionRef;
};

/** The hash of the text that holds a tool's question to the user. */
export type QuestionRef = string;

/** What the machine must know to detect that a context has grown. */
type ContextBounds = {
  /** The tokens of messages above which a compaction starts (CTX-09). */
  readonly compactAbove: number;
};

/** A smaller view. Its texts are in the transcript, in the entry that the compaction has written. */
export type CompactDigest = WrittenDigest & {
  /** Absent when nothing could be made smaller: then nothing was written. */
  readonly spans?: readonly Span[];
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly loopsCompacted: number;
  /** The problem of an application's strategy: at most 512 bytes, free of secrets. There are no spans then. */
  readonly rejected?: string;
  /** The usage of a model that was called for a summary. */
  readonly usage?: Usage;
  readonly costUsd?: Cost;
  /** The fallbacks that were used for it. */
  readonly fallbacks?: readonly ModelFallback[];
};

/** A hook's result. Names have at most 128 bytes, reasons 512, texts for the model 2 KiB; free of secrets. */
export type HookResult =
  /** `notices`: texts for the model, for the turn that begins. `textOnly`: its answer must have no calls. */
  | { readonly type: "yes"; readonly notices?: readonly string[]; readonly textOnly?: true }
  | { readonly type: "no"; readonly hook: string; readonly reason: string }
  | { readonly type: "end"; readonly hook: string; readonly text: string }
  | { readonly type: "continue"; readonly hook: string; readonly text?: string };

export type HookDigest = WrittenDigest & {
  /** One for each call that the hooks were asked about, in the order of the question; otherwise one. */
  readonly results: readonly HookResult[];
  /** Hooks that gave no answer, for users. At most eight. */
  readonly failures?: readonly { readonly hook: string; readonly fault: string }[];
};

/** The verdict of the filters on one message. A reason and a warning have at most 512 bytes, and no secret. */
export type InputVerdict = { readonly id: string } & (
  | { readonly type: "pass" }
  | { readonly type: "warn"; readonly text: string }
  | { readonly type: "reject"; readonly reason: string }
);

/** In the order of the messages, and no further than the first that is rejected. */
export type FilterDigest = WrittenDigest & { readonly verdicts: readonly InputVerdict[] };

/** Whether the run could be updated to another definition, and what it runs with then. */
export type DefinitionUpdateDigest = WrittenDigest &
  (
    | {
        readonly type: "updated";
        readonly pinned: PinnedDigest;
        /** The limits that have changed. */
        readonly limits: Partial<Limits>;
        readonly changes: readonly DefinitionChange[];
        readonly warnings: readonly string[];
        /** The hash of the text that describes what the model is offered from this point on. */
        readonly terms: string;
      }
    /** At most 512 bytes, free of secrets. */
    | { readonly type: "rejected"; readonly reason: string }
  );

/** What a request for a title has cost. The title is stored. */
export type TitleDigest = WrittenDigest & {
  readonly usage: Usage;
  readonly costUsd: Cost;
  /** Absent when the model gave none, and where Temporal displays no titles. */
  readonly title?: string;
};

/** The answer of a step that only writes. */
export type WrittenDigest = { readonly branch: string };

export type ClosedDigest = WrittenDigest & {
  /** The last answer's text, at most 32 KiB; for a run that ends with a report, its beginning. */
  readonly text?: string;
  /** The position of that answer, which is complete. */
  readonly position?: number;
  /** The answer is a structured output and `text` is its JSON: whole, or cut because it is longer. */
  readonly json?: "complete" | "truncated";
  /** For a sub-agent's loop: the last answer that has a text, with its position and estimate. */
  readonly lastAnswer?: { readonly position: number; readonly tokens: number };
};

/** Why an activity failed permanently, short enough for history. */
export type Failure = {
  /** The failure type without its namespace: `rate-limited`, `auth`, `overflow`, `definition`, … */
  readonly fault: string;
  /** What was tried, on what, and what was returned: at most 1 KiB. */
  readonly message: string;
};
