import type { WantedSection } from "../conversation/compaction/custom.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";

/** What a strategy is asked, and what it may use. */
export type CompactionRequest = {
  /** What the view speaks of, in order; also what a text stands for now. Copies. */
  readonly entries: readonly Entry[];
  /** Tokens that all sections may have together. */
  readonly budget: number;
  /** Tokens that one text may have. */
  readonly maxTextTokens: number;
  readonly why: "grown" | "asked" | "overflow";
  /** What matters most, when a person or the definition has said so. */
  readonly focus: string | undefined;
  /** The estimate that sections are counted by. */
  readonly count: (message: AgentMessage) => number;
  /** Asks the agent's own model; what that costs counts for the limits. Of at most `maxTextTokens`, unless said. */
  readonly ask: (request: {
    readonly instructions: string;
    readonly text: string;
    readonly maxTokens?: number;
  }) => Promise<string>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

/**
 * How an application makes a view smaller: sections in order that hold each entry once. An entry is seen `whole`, with
 * tool results `cut` to so many lines, or as a part of what one text, the `summary`, stands for. An empty list lets the
 * model see none of them: one line says how many are gone.
 */
export type CompactionStrategy = (
  request: CompactionRequest,
) => readonly WantedSection[] | Promise<readonly WantedSection[]>;
