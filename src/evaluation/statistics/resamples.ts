import { assertCount } from "./arguments.ts";
import type { Random } from "./random.ts";

/** How many experiments to draw, and from what. Drawing changes the generator. */
export type Draws = { readonly random: Random; readonly count: number };

/** Draws `count` samples of `n` indices from 0 to `n - 1`, with replacement. */
export function drawResamples(random: Random, n: number, count: number): readonly (readonly number[])[] {
  assertCount("The number of values", n, 1);
  assertCount("The number of resamples", count, 1);
  return Array.from({ length: count }, () => Array.from({ length: n }, () => random.nextInt(n)));
}
