import type { EventBody } from "../../schema/loop-event.ts";
import type { BranchRecord } from "./session.ts";

/** The prefix of the id of a branch that a model's revert has created. */
export const REVERT_PREFIX = "revert-";

/**
 * Finds the branch that each RevertApplied of a loop has left, oldest first. Positions of events before it refer to that
 * branch; positions of events after the last one refer to the branch on which the loop ended.
 */
export function findLeftBranches(
  branches: readonly BranchRecord[],
  endedOn: string,
  events: readonly EventBody[],
): readonly string[] {
  let reverts = events.filter((body) => body.type === "RevertApplied" && body.applied).length;
  const branchesLeft: string[] = [];
  let at = branches.find(({ id }) => id === endedOn);
  while (at?.parent !== undefined && reverts > 0) {
    const { branch } = at.parent;
    if (at.id.startsWith(REVERT_PREFIX)) {
      branchesLeft.unshift(branch);
      reverts--;
    }
    at = branches.find(({ id }) => id === branch);
  }
  return branchesLeft;
}
