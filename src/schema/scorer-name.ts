import type { Scorer } from "./scorer.ts";

/** Returns the name of a scorer's scores. */
export function getScorerName({ name, type }: Pick<Scorer, "name" | "type">): string {
  return name ?? type;
}
