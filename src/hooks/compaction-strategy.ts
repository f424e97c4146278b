import type { WantedSection } from "../schema/context.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";

/** The input of a strategy, and the functions that it may use. */
export type CompactionRequest = {
  /** The entries that the view covers, in order, including those that a text currently replaces. Copies. */
  readonly entries: readonly Entry[];
  /** The most tokens of all sections together. */
  readonly budget: number;
  /** The most tokens of one text. */
  readonly maxTextTokens: number;
  /** Why the view must become smaller: it has grown, someone asked, or the vendor rejected it as too long. */
  readonly reason: "size" | "request" | "overflow";
  /** What matters most, if a user or the definition specifies it. */
  readonly focus: string | undefined;
  /** The estimate that counts the tokens of sections. */
  readonly count: (message: AgentMessage) => number;
  /**
   * Calls the agent's own model; the cost counts towards the limits. By default the answer has at most
   * `maxTextTokens`.
   */
  readonly ask: (request: {
    /** The system prompt of the request. */
    readonly instructions: string;
    /** The only message of the request. */
    readonly text: string;
    /** The maximum tokens of the answer. */
    readonly maxTokens?: number;
  }) => Promise<string>;
  /** Aborts when nothing waits for the answer any more. */
  readonly signal: AbortSignal;
};

/**
 * Makes a view smaller: returns sections in order that contain each entry once. A section displays an entry `whole`,
 * with tool results truncated to `maxLines` lines, or as a part of what one text, the `summary`, replaces. An empty list
 * hides all entries from the model: one line says how many are missing.
 */
export type CompactionStrategy = (
  request: CompactionRequest,
) => readonly WantedSection[] | Promise<readonly WantedSection[]>;
