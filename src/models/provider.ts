import type { AssistantMessage, Message } from "../schema/message.ts";
import type { CacheConfig, CustomProtocol, ModelConfig, Protocol, ThinkingLevel } from "../schema/model.ts";
import type { StructuredOutput } from "../schema/output.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { RateLimits } from "./rate-limits/rate-limits.ts";

/** One complete request to a model: nothing is remembered between two requests. */
export type ModelRequest = {
  /** The model, as its configuration describes it. */
  readonly model: ModelConfig;
  /** Resolved at the moment of use; never logged, never part of an error. */
  readonly apiKey?: string | undefined;
  /** `model.headers` with secret references resolved. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The conversation, in order. */
  readonly messages: readonly Message[];
  /**
   * The messages are what the vendor is to receive: the adapter translates no answers of other vendors (XLAT-02), and
   * sends their parts and tokens as if the vendor had made them.
   */
  readonly isTranslated?: true | undefined;
  /** The tools that the model may call. */
  readonly tools: readonly ToolDefinition[];
  /** The required output, if the vendor supports it natively. */
  readonly output?: StructuredOutput | undefined;
  /** The model must answer with text. A vendor that cannot forbid calls may make one all the same. */
  readonly textOnly?: true | undefined;
  /** The tool that the model must call; omitted if the vendor cannot force a tool. */
  readonly forcedTool?: string | undefined;
  /** How much the model thinks before it answers. */
  readonly thinking: ThinkingLevel;
  /** The sampling temperature; the vendor's default if absent. */
  readonly temperature?: number | undefined;
  /** Tokens of the answer; `model.maxTokens` by default. */
  readonly maxTokens?: number | undefined;
  /** What the vendor is to cache. */
  readonly cache: CacheConfig;
  /** Groups the requests of one session, for vendors that cache prompts by such a key; reveals nothing about the session. */
  readonly cacheKey?: string | undefined;
};

/** A piece of an answer as it arrives. `index` is its content block, in order of appearance. */
export type ModelDelta =
  | {
      readonly type: "text";
      /** The content block that the piece belongs to, from 0. */
      readonly index: number;
      /** The piece, to be appended to the earlier ones. */
      readonly delta: string;
    }
  | {
      readonly type: "thinking";
      /** The content block that the piece belongs to, from 0. */
      readonly index: number;
      /** The piece, to be appended to the earlier ones. */
      readonly delta: string;
    }
  | {
      readonly type: "toolCall";
      /** The content block that the piece belongs to, from 0. */
      readonly index: number;
      /** The vendor's id of the call. */
      readonly id: string;
      /** The name of the tool. */
      readonly name: string;
      /** A fragment of JSON; parseable only when the call is complete. May be empty. */
      readonly delta: string;
    };

/** What a request waits for before it is sent. */
export type RequestWait = {
  /** The vendor accepts none now, or the limit per minute is reached, or the configured number of concurrent requests. */
  readonly type: "vendor" | "rate" | "concurrency";
  /** The vendor of the request. */
  readonly vendor: string;
  /** The number of requests that wait before it. */
  readonly ahead: number;
  /** Milliseconds, if known. */
  readonly forMs?: number | undefined;
};

/** How the answer of one request is delivered. */
export type StreamOptions = {
  /** Its abort ends the request to the vendor; `stream` then rejects with fault `cancelled`. */
  readonly signal: AbortSignal;
  /** Receives each piece of the answer as it arrives. */
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
  /** Receives the vendor's remaining allowances as soon as they are reported; of rejections too. */
  readonly onRateLimits?: ((limits: RateLimits) => void) | undefined;
  /** Called when the request must wait, when the reason changes, and with undefined when the request is sent. */
  readonly onWait?: ((wait: RequestWait | undefined) => void) | undefined;
  /** The longest wait of the request for its turn; the usual one by default. */
  readonly maxWaitMs?: number | undefined;
  /** Unix milliseconds, for the message's timestamp. */
  readonly now?: (() => number) | undefined;
};

/**
 * How a model produces a structured output. `native`: the request specifies the format. `final-tool`: the output is the
 * arguments of a tool that is offered for it (SO-01).
 */
export type OutputMode = "native" | "final-tool";

/**
 * One wire protocol.
 *
 * `stream` resolves with the whole message (stop reason `stop`, `length`, `toolUse`, or `guardRail` when the vendor
 * refused or filtered the answer), or rejects with a `ProviderError`, and with nothing else. It sends one request:
 * the caller retries.
 */
export interface Provider {
  /** Stable and lower-case: `anthropic`, `openai`, … */
  readonly id: string;
  /** A built-in protocol, whose adapter it replaces, or a custom one. */
  readonly protocol: Protocol | CustomProtocol;
  /** Absent if models cannot produce structured output at all. */
  readonly selectOutputMode?: (model: ModelConfig, output: StructuredOutput) => OutputMode;
  /** Sends one request and resolves with the whole answer. Rejects with a `ProviderError`. */
  stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage>;
}
