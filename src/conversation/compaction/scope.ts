import type { CompactionScope } from "../../schema/context.ts";

/**
 * Counts how many loops before the newest one a compacted view includes (CMP-05).
 *
 * A token budget counts loops uncompacted, and without the newest one. The nearest loop is always included, even when it
 * is larger than the whole window: its summary is small.
 *
 * @param earlierTokens - The estimate of each earlier loop on the branch, oldest first.
 */
export function countLoopsInScope(
  scope: CompactionScope,
  earlierTokens: readonly number[],
  maxContextTokens: number,
): number {
  if (scope.type === "fixed") return Math.min(scope.loops, earlierTokens.length);
  let loops = 0;
  let tokens = 0;
  for (const more of earlierTokens.toReversed()) {
    tokens += more;
    if (tokens > maxContextTokens && loops > 0) break;
    loops++;
  }
  return loops;
}
