import type { AssistantMessage, Message } from "../schema/message.ts";
import type { CacheConfig, CustomProtocol, ModelConfig, Protocol, ThinkingLevel } from "../schema/model.ts";
import type { StructuredOutput } from "../schema/output.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { RateLimits } from "./rate-limits/rate-limits.ts";

/** One question to a model, complete: nothing is remembered between two of them. */
export type ModelRequest = {
  readonly model: ModelConfig;
  /** Resolved at the moment of use; never logged, never part of an error. */
  readonly apiKey?: string | undefined;
  /** `model.headers` with secret references resolved. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly systemPrompt: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** What the answer must be, where the vendor takes it natively. */
  readonly output?: StructuredOutput | undefined;
  /** The tool that must be called, where the vendor can be told so; left out where it cannot. */
  readonly mustCall?: string | undefined;
  readonly thinking: ThinkingLevel;
  readonly temperature?: number | undefined;
  /** Tokens of the answer; `model.maxTokens` when absent. */
  readonly maxTokens?: number | undefined;
  readonly cache: CacheConfig;
  /** Groups the questions of one session, for vendors that keep prompts by such a key; says nothing of the session. */
  readonly cacheKey?: string | undefined;
};

/** A piece of an answer as it arrives. `index` is the content block that it belongs to, in order of appearance. */
export type ModelDelta =
  | { readonly type: "text"; readonly index: number; readonly delta: string }
  | { readonly type: "thinking"; readonly index: number; readonly delta: string }
  | {
      readonly type: "toolCall";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      /** A fragment of JSON; parseable only when the call is complete. May be empty. */
      readonly delta: string;
    };

/** What a question waits for, before it is asked. */
export type Wait = {
  /** The vendor has said that it takes none now; or so many a minute; or so many at once, as is configured. */
  readonly for: "vendor" | "rate" | "places";
  /** Who is to be asked. */
  readonly vendor: string;
  /** Questions that wait before it. */
  readonly ahead: number;
  /** Milliseconds, where that is known. */
  readonly forMs?: number | undefined;
};

export type StreamOptions = {
  /** Ends the request to the vendor; `stream` then rejects with fault `cancelled`. */
  readonly signal: AbortSignal;
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
  /** What the vendor says of what is left to ask, as soon as it says so; of refusals too. */
  readonly onRateLimits?: ((limits: RateLimits) => void) | undefined;
  /** Told when the question must wait before it may go, when that changes, and with nothing when it goes. */
  readonly onWait?: ((wait: Wait | undefined) => void) | undefined;
  /** The longest that the question may wait for its turn; as long as usual unless said. */
  readonly maxWaitMs?: number | undefined;
  /** Unix milliseconds, for the message's time stamp. */
  readonly now?: (() => number) | undefined;
};

/**
 * How a model is held to an output: `native`, the request says what the answer must be; `final-tool`, the answer is the
 * arguments of a tool that is offered for it (SO-01).
 */
export type OutputMode = "native" | "final-tool";

/**
 * One wire protocol.
 *
 * `stream` resolves with the whole message (stop reason `stop`, `length`, `toolUse`, or `guardRail` when the vendor
 * refused or filtered the answer), or rejects with a `ProviderError`, and with nothing else. It asks once: trying
 * again is the caller's.
 */
export interface Provider {
  /** Stable and lower-case: `anthropic`, `openai`, … */
  readonly id: string;
  /** One that is built in, whose adapter it replaces, or one of its own. */
  readonly protocol: Protocol | CustomProtocol;
  /** Absent where a model cannot be held to an output at all. */
  readonly selectOutputMode?: (model: ModelConfig, output: StructuredOutput) => OutputMode;
  stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage>;
}
