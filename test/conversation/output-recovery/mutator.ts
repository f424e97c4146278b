// What spoils a valid output, as models and connections do. `further-mutators/` is for mutators of other authors.

/** A number from 0 to below 1, as `Math.random` returns it, but the same ones for the same seed. */
export type Random = () => number;

/** Returns the text spoilt in one way, or unchanged where this text has nothing to spoil. */
export type Mutate = (text: string, random: Random, schema: JsonSchema) => string;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What the spoilt text still says of the original value. */
export type Loss =
  /** Everything: one value is meant, and any other is wrong. */
  | "none"
  /** A part is missing, which no one can know: right are the parts that are there, and the defaults of the schema. */
  | "part"
  /** A required value without a default is missing: every value is invented. */
  | "essential";

export type Mutator = { readonly name: string; readonly loss: Loss; readonly mutate: Mutate };

export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)]!;
}

/** A whole number from `min` to `max`, both included. */
export function pickNumber(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

/** Names mutators that lose nothing, as most do. */
export function nameLossless(mutators: Readonly<Record<string, Mutate>>): readonly Mutator[] {
  return Object.entries(mutators).map(([name, mutate]) => ({ name, loss: "none", mutate }));
}
