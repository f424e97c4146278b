import type { Continuation } from "../../schema/definition.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { knownSession } from "../runs/known-session.ts";

/** How a run goes on at the end of a branch: nothing where that is the session's head. */
export async function onBranch(
  link: Link,
  session: string,
  branch: string,
): Promise<Continuation | undefined> {
  const { transcript, record } = await knownSession(link, session);
  if (branch === record.headBranch) return undefined;
  const branches = (await transcript.branches(session)).map(({ id }) => id);
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
