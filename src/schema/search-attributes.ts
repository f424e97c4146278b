/**
 * The typed search attributes that a run writes, by name and Temporal type.
 *
 * The server rejects attributes that are not registered, so code that starts or checks a server also uses this table.
 */
export const SEARCH_ATTRIBUTES = {
  HoldfastAgent: "Keyword",
  HoldfastModel: "Keyword",
  HoldfastStatus: "Keyword",
  HoldfastCostUsd: "Double",
  HoldfastTurns: "Int",
  HoldfastSession: "Keyword",
  HoldfastTitle: "Text",
} as const satisfies Record<SearchAttributeName, string>;

/** The name of a search attribute that runs write. */
export type SearchAttributeName =
  | "HoldfastAgent"
  | "HoldfastModel"
  | "HoldfastStatus"
  | "HoldfastCostUsd"
  | "HoldfastTurns"
  | "HoldfastSession"
  | "HoldfastTitle";
