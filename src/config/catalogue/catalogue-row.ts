/** How requests control thinking: a token budget, an effort that guides the model's own choice, an effort, a level, none. */
export type Thinking = "budget" | "adaptive" | "effort" | "level" | "none";

/** One model of a vendor's list. Prices in dollars per million tokens. */
export type Row = readonly [
  id: string,
  contextWindow: number | null,
  /** The maximum number of tokens of one answer. */
  maxTokens: number | null,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  /** A value of `Thinking`, then `images` and `schema` if supported. All listed models call tools. */
  abilities: string,
  /** For requests of more tokens than the first number: the four prices, which apply to all of their tokens. */
  dearer?: readonly [above: number, input: number, output: number, cacheRead: number, cacheWrite: number],
];
