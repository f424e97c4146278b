import type { CostRates } from "../../schema/model.ts";
import type { Thinking } from "./catalogue-row.ts";

/** The known values of a model. Absent values are unknown. */
export type CatalogueEntry = {
  /** The full name: `anthropic/claude-opus-5-5`. */
  readonly name: string;
  /** The vendor. */
  readonly provider: string;
  /** The vendor's name for the model. */
  readonly id: string;
  /** The maximum number of tokens of a request and its answer. */
  readonly contextWindow?: number;
  /** The maximum number of tokens of one answer. */
  readonly maxTokens?: number;
  /** Dollars per million tokens. */
  readonly cost?: CostRates;
  readonly thinking?: Thinking;
  /** The model calls tools. */
  readonly tools?: boolean;
  /** The model reads images. */
  readonly images?: boolean;
  /** The model reads PDF documents over its vendor's protocol. */
  readonly pdf?: boolean;
  /** The vendor can enforce a JSON Schema for an answer. */
  readonly structuredOutput?: boolean;
  /** Where the values are from. */
  readonly source: string;
  /** The date of the source, such as `2026-09-23`. */
  readonly date: string;
};

/** The values of an entry that a definition contains. */
export type KnownModel = {
  contextWindow?: number;
  maxTokens?: number;
  cost?: CostRates;
  reasoning?: boolean;
  input?: ("image" | "pdf")[];
};

export function toKnownModel(entry: CatalogueEntry): KnownModel {
  const { contextWindow, maxTokens, cost, thinking, images, pdf } = entry;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(cost !== undefined && { cost }),
    ...(thinking !== undefined && { reasoning: thinking !== "none" }),
    ...(images !== undefined && {
      input: [...(images ? ["image" as const] : []), ...(pdf === true ? ["pdf" as const] : [])],
    }),
  };
}
