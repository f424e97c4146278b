import type { CostRates } from "../../schema/model.ts";
import type { Thinking } from "./catalogue-row.ts";

/** What is known of a model. What is absent is not known. */
export type CatalogueEntry = {
  /** As one writes it: `anthropic/claude-opus-5-5`. */
  readonly name: string;
  readonly provider: string;
  readonly id: string;
  readonly contextWindow?: number;
  /** Tokens that one answer may have. */
  readonly maxTokens?: number;
  /** Dollars per million tokens. */
  readonly cost?: CostRates;
  readonly thinking?: Thinking;
  readonly tools?: boolean;
  readonly images?: boolean;
  /** An answer can be held to a JSON Schema. */
  readonly structuredOutput?: boolean;
  readonly source: string;
  /** Of the source, as `2026-09-23`. */
  readonly date: string;
};

/** What of it goes into a definition. */
export type KnownModel = {
  contextWindow?: number;
  maxTokens?: number;
  cost?: CostRates;
  reasoning?: boolean;
};

export function toKnownModel({ contextWindow, maxTokens, cost, thinking }: CatalogueEntry): KnownModel {
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(cost !== undefined && { cost }),
    ...(thinking !== undefined && { reasoning: thinking !== "none" }),
  };
}
