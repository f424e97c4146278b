import { formatCanonicalJson } from "../../platform/text/canonical-json.ts";
import type { Scorer } from "../../schema/scorer.ts";
import { hashText } from "./sql/hash-text.ts";

/**
 * Returns the digest of what determines a scorer's scores: SHA-256 of the canonical JSON, in hex. Cells keep their scores by it.
 *
 * The name of the scores is no part of it, except for a scorer of the worker, whose name says which function it is. A judge is
 * part of it by the hash of its definition.
 */
export function digestScorer(scorer: Scorer): string {
  if (scorer.type === "custom") return hashText(formatCanonicalJson(scorer));
  const { name: _, ...determining } = scorer;
  return hashText(formatCanonicalJson(determining));
}
