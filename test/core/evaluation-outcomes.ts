import type { BranchOutcome, BranchStatus } from "../../src/core/evaluation/branch-outcome.ts";

/** Branches of one evaluation: `[status, total tokens]`, and the bytes of the last text where they matter. */
export function branches(
  ...parts: readonly (readonly [BranchStatus["type"], number, number?])[]
): BranchOutcome[] {
  return parts.map(([type, totalTokens, textBytes = 20], index) => ({
    index,
    loopId: `s.a.${index + 1}`,
    branch: `b${index}`,
    originalContextLength: 3,
    length: 5,
    status: type === "answered" ? { type } : { type, reason: `why ${index + 1}` },
    usage: { input: totalTokens, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens },
    textBytes,
  }));
}
