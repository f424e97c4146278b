import type { EventBody } from "../../schema/record.ts";
import type { BranchRecord } from "./session.ts";

/** What the id of a branch begins with that a model's going back has made. */
export const REVERT_PREFIX = "revert-";

/**
 * The branch that each RevertApplied of a loop has left, oldest first. Positions of events before it are those of that
 * branch; of events behind the last one, those of the branch that the loop has ended on.
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
