import type { LoopTrace } from "../../conversation/pruning/past-view.ts";
import type { Entry } from "../../schema/record.ts";

/** An answer of a loop, on the branch on which it was given. */
export type PastAnswer = { readonly branch: string; readonly position: number; readonly turn: number };

/**
 * Lists all answers of a loop in order, also those that its model has left by a revert.
 *
 * @param read - Returns the entries of a branch.
 */
export async function listPastAnswers(
  { branches, events, from }: Pick<LoopTrace, "branches" | "events" | "from">,
  loopId: string,
  read: (branch: string, from: number) => Promise<readonly Entry[]>,
): Promise<readonly PastAnswer[]> {
  const leftBranches = events.flatMap((body) =>
    body.type === "RevertApplied" && body.applied && body.abandoned !== undefined ? [body.abandoned] : [],
  );
  const found: PastAnswer[] = [];
  for (const [index, branch] of branches.entries()) {
    const isLast = index === branches.length - 1;
    const span = isLast ? { from, to: Number.POSITIVE_INFINITY } : leftBranches[index];
    for (const { position, message } of await read(branch, from)) {
      if (span === undefined || position < span.from || position >= span.to) continue;
      if (message.role !== "assistant" || message.turnId?.loopId !== loopId) continue;
      found.push({ branch, position, turn: message.turnId.turnIndex });
    }
  }
  return found.sort((one, other) => one.turn - other.turn || one.position - other.position);
}
