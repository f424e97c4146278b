import type { Allowance } from "../../../src/core/budget/account-state.ts";
import type { CallToolCommand, RunHookCommand } from "../../../src/core/machine/state/activity-command.ts";
import type { HookResult, ToolFacts } from "../../../src/core/machine/state/digest.ts";
import type { TaskReport } from "../../../src/core/machine/state/task.ts";
import type { Continuation } from "../../../src/schema/continuation.ts";
import type { AgentDefinition, Delegation, QueueMode } from "../../../src/schema/definition.ts";
import type { HookPoint } from "../../../src/schema/hooks.ts";
import type { Limits } from "../../../src/schema/limits.ts";
import type { StopReason, Usage } from "../../../src/schema/message.ts";
import type { PermissionPolicy } from "../../../src/schema/permission.ts";
import type { RepeatSettings } from "../../../src/schema/recovery.ts";
import type { ToolStrategy } from "../../../src/schema/tool.ts";
import type { LoopEnding } from "../../../src/tools/tool-execution.ts";
import type { Run } from "./run.ts";

// What a test says of the world: what the model answers, what the agent is like, who has a say.

export type CallScript = {
  readonly name: string;
  /** By default those that its tool takes. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Its arguments are none that its tool takes. */
  readonly invalid?: true | undefined;
};

export type Reply = {
  readonly text?: string;
  readonly calls?: readonly CallScript[];
  readonly stopReason?: StopReason;
  readonly usage?: Usage;
  /** Paid for tokens that were read from a cache, whose price is the only one that the model has. */
  readonly costUsd?: number;
  /** With stop reason "error": what the vendor says in its answer. */
  readonly error?: string;
};

export const says = (text: string, rest: Omit<Reply, "text"> = {}): Reply => ({ text, ...rest });
export const calls = (...names: readonly (string | CallScript)[]): Reply => ({
  calls: names.map((name) => (typeof name === "string" ? { name } : name)),
});
export const usageOf = (input: number, output: number): Usage => ({
  input,
  output,
  reasoning: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input + output,
});

/** The vendor counts far more than our own estimate. */
export const large = (reply: Reply): Reply => ({ ...reply, usage: usageOf(500, 5) });

export const NO_LIMITS: Limits = {
  maxTurns: null,
  maxTotalTokens: null,
  maxDurationMs: null,
  maxCostUsd: null,
  maxToolCalls: null,
};

/** A warning, a rejection, or nothing. */
export type Judge = (text: string) => { readonly warn: string } | { readonly reject: string } | undefined;

/** What a sub-agent comes to, or that it is terminated; `unseen` with no record of it. */
export type Fate = Partial<TaskReport> | "gone" | "unseen";

type OtherDefinition = Partial<Omit<AgentDefinition, "model">> & {
  readonly model?: Partial<AgentDefinition["model"]>;
};

export type Setting = {
  /** Answers of the model, one for each command that asks it; "done" when they are used up. */
  readonly replies?: readonly Reply[];
  readonly prompts?: readonly string[];
  readonly mode?: "run" | "interactive";
  readonly idleTimeoutMs?: number | null;
  readonly strategy?: ToolStrategy;
  readonly limits?: Partial<Limits>;
  /** What whoever has started the run has set aside for it. */
  readonly share?: Allowance;
  readonly delegation?: Delegation | undefined;
  /** What becomes of sub-agents, by the calls that started them: the same whenever it is asked. */
  readonly reports?: (command: CallToolCommand) => Fate;
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
  readonly maxRetries?: number;
  readonly localSteps?: boolean;
  readonly tools?: Record<string, ToolFacts>;
  /** Calls of these tools end the loop. */
  readonly ends?: Readonly<Record<string, LoopEnding>>;
  /** The run goes on in this way, without a prompt unless some are given. */
  readonly kind?: Continuation["kind"];
  /** Everything runs unless said. */
  readonly permissions?: Partial<PermissionPolicy>;
  readonly waitingCounts?: boolean;
  readonly approvalTimeoutMs?: number;
  /** Tokens of messages; no compaction unless said. */
  readonly compactAbove?: number | undefined;
  /** In a row; none unless said. */
  readonly nudges?: number | undefined;
  /** What becomes of calls that fail in the same way again and again; the defaults unless said. */
  readonly repeats?: RepeatSettings | undefined;
  /** The answer must be an object with a number `count`: its text, or the arguments of the tool `final_answer`. */
  readonly output?: "text" | "call" | undefined;
  /** What sessions are called; the first words unless said. */
  readonly titles?: "model";
  /** An input filter rejects words that hold this. */
  readonly rejects?: string;
  /** A loop that begins with words that hold this is refused by the hook "guard". */
  readonly guarded?: string;
  /** Points where the hook "guard" listens. */
  readonly hooks?: readonly HookPoint[] | undefined;
  /** What it answers, by what it is asked; yes unless said. The same whenever it is asked again. */
  readonly words?: ((command: RunHookCommand) => readonly HookResult[]) | undefined;
  /** What an input filter says; nobody is asked when absent. */
  readonly judges?: Judge | undefined;
  /** In what other definitions differ from the run's own, by their hashes. */
  readonly definitions?: Readonly<Record<string, OtherDefinition>>;
  /** Another run of this one's session, which is over. */
  readonly after?: Run;
  readonly session?: string;
  /** Ids of messages begin with it. */
  readonly run?: string;
  /** Leaves "started" to the test. */
  readonly held?: boolean;
  /** The state goes through JSON after every event. */
  readonly throughJson?: boolean;
  /** Keeps every state and command as JSON, for a comparison with another run; no step is compared with that of a copy. */
  readonly traced?: boolean;
  /** Only what is cheap is checked: for very long runs. */
  readonly light?: boolean;
};

const TOOL: ToolFacts = { replay: "unsafe", quick: false };
export const TOOLS: Record<string, ToolFacts> = {
  bash: { ...TOOL, timeoutMs: 60_000 },
  edit: { replay: "idempotent", quick: false },
  read: { replay: "pure", quick: true },
  /** An agent. */
  scout: {
    replay: "idempotent",
    quick: false,
    child: {
      definitionHash: "scout",
      limits: {
        maxTurns: 10,
        maxTotalTokens: 1_000_000,
        maxDurationMs: 300_000,
        maxCostUsd: null,
        maxToolCalls: null,
      },
      delegation: { maxDepth: 3, maxChildren: 5 },
    },
  },
};

/** What stands in texts that must never be in a state. */
export const SECRET_OF_TEXT = "\u00a7unseen";

/** Long enough that no preview shows its end. */
export function long(text: string, { light, output }: Setting): string {
  return light === true || output !== undefined ? text : `${text}${" ".repeat(300)}${SECRET_OF_TEXT}`;
}
