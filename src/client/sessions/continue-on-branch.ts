import type { Continuation } from "../../schema/continuation.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";

/** Returns the continuation of a run at the end of a branch; nothing if the branch is the session's head. */
export async function getBranchContinuation(
  link: ClientLink,
  session: string,
  branch: string,
): Promise<Continuation | undefined> {
  const { transcript, record } = await getSessionRecord(link, session);
  if (branch === record.headBranch) return undefined;
  const branches = (await transcript.readBranches(session)).map(({ id }) => id);
  if (!branches.includes(branch)) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${session} has no branch ${branch}; it has ${branches.join(", ")}.`,
      {
        session,
      },
    );
  }
  return { kind: { type: "branch", tag: new Date().toISOString() }, at: { branch } };
}
