/**
 * The typed search attributes a run writes, by name and Temporal type.
 *
 * The server refuses attributes that are not registered, so whoever starts or checks a server reads this table too.
 */
export const SEARCH_ATTRIBUTES = {
  HoldfastAgent: "Keyword",
  HoldfastModel: "Keyword",
  HoldfastStatus: "Keyword",
  HoldfastCostUsd: "Double",
  HoldfastTurns: "Int",
  HoldfastSession: "Keyword",
} as const;

export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
