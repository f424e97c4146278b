import { findReferenceProblem } from "./check-reference.ts";
import { cacheReader, type EvidenceReader } from "./evidence-reader.ts";

/** A claim that was not shown, and why its evidence fails: a sentence for each problem. */
type DroppedClaim<Claim> = { readonly claim: Claim; readonly problems: readonly string[] };

export type CheckedClaims<Claim> = {
  /** In the order that they had. */
  readonly held: readonly Claim[];
  readonly dropped: readonly DroppedClaim<Claim>[];
  /** How many references were checked. */
  readonly references: number;
};

/** What happens to a claim without any reference. */
export type Unproven = "keep" | "drop";

/**
 * Checks the evidence of claims against a repository, without a model: a claim holds if every reference does. One that is
 * made up is reason enough to doubt the others.
 */
export async function checkClaims<Claim>(
  claims: readonly Claim[],
  listEvidence: (claim: Claim) => readonly string[],
  reader: EvidenceReader,
  unproven: Unproven = "drop",
): Promise<CheckedClaims<Claim>> {
  const cached = cacheReader(reader);
  const held: Claim[] = [];
  const dropped: DroppedClaim<Claim>[] = [];
  let references = 0;
  for (const claim of claims) {
    const evidence = listEvidence(claim);
    references += evidence.length;
    const problems: string[] = evidence.length === 0 && unproven === "drop" ? ["It has no evidence."] : [];
    for (const reference of evidence) {
      const problem = await findReferenceProblem(reference, cached);
      if (problem !== undefined) problems.push(problem);
    }
    if (problems.length === 0) held.push(claim);
    else dropped.push({ claim, problems });
  }
  return { held, dropped, references };
}
