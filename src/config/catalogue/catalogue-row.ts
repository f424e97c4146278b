/** How a model is told to think: in tokens, by an effort that guides its own choice, by an effort, by a level, not at all. */
export type Thinking = "budget" | "adaptive" | "effort" | "level" | "none";

/** One model of a vendor's list. Prices in dollars per million tokens. */
export type Row = readonly [
  id: string,
  contextWindow: number | null,
  /** Tokens that one answer may have. */
  maxTokens: number | null,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  /** A word of `Thinking`, then `images` and `schema` where it takes them. All that are listed call tools. */
  abilities: string,
  /** Of a question of more tokens than the first number says: the four prices, for all of it. */
  dearer?: readonly [above: number, input: number, output: number, cacheRead: number, cacheWrite: number],
];
