import { OWN_PREFIXES, type Spot } from "../transcript/fork.ts";
import { HoldfastError } from "./error.ts";
import { translated } from "./failures.ts";
import { knownSession } from "./known-session.ts";
import type { Link } from "./link.ts";
import { sessionId } from "./session-id.ts";
import { noSpot, type PlaceOptions, spotBehind } from "./spot.ts";

export type ForkOptions = PlaceOptions & {
  /** Of the new branch; `branch-1`, `branch-2`, … unless said. */
  readonly name?: string;
  /**
   * The id of a new session, which begins with what stands before the place: both can be at work at the same time.
   * Without it the branch is one more of the same session.
   */
  readonly as?: string;
};

export type ForkedBranch = {
  readonly session: string;
  readonly branch: string;
  /** Nothing is copied: the new branch shows what this one has before the position. */
  readonly from: Spot & { readonly session: string };
  /** The folder of the session's agent. Its files are as they are now, whatever the place. */
  readonly workspace?: string;
};

/**
 * Begins a branch at a place of the conversation, by reference. The session's head stays where it is, and a run that is
 * at work goes on on its own branch.
 */
export async function forkSession(
  link: Link,
  session: string,
  { name, as, ...place }: ForkOptions = {},
): Promise<ForkedBranch> {
  if (name !== undefined) checkBranchName(name);
  const into = as === undefined ? undefined : sessionId(as);
  try {
    const { transcript, record } = await knownSession(link, session);
    const at = await spotBehind({ transcript, session, head: record.headBranch }, place);
    const forked = await transcript.fork({
      session,
      atMs: Date.now(),
      at,
      ...(name === undefined ? {} : { name }),
      ...(into === undefined ? {} : { into }),
    });
    if (forked.type === "taken") throw taken(session, forked.what, forked.name);
    if (forked.type !== "forked") throw noSpot(session, forked);
    const { type: _, ...made } = forked;
    const { workspace } = (await transcript.definition(record.definitionHash)) ?? {};
    return { ...made, ...(workspace === undefined ? {} : { workspace }) };
  } catch (error) {
    throw translated(error, link, session);
  }
}

const BRANCH_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function checkBranchName(name: string): void {
  const own = OWN_PREFIXES.find((prefix) => name.startsWith(prefix));
  const problem =
    own !== undefined
      ? `names that begin with "${own}" are given by the transcript itself`
      : BRANCH_NAME.test(name)
        ? undefined
        : "it has up to 64 letters, digits, dots, dashes and underscores, and begins with a letter or a digit";
  if (problem === undefined) return;
  throw new HoldfastError("input-invalid", `"${name.slice(0, 80)}" cannot be a branch's name: ${problem}.`);
}

function taken(session: string, what: "branch" | "session", name: string): HoldfastError {
  const said =
    what === "branch"
      ? `Session ${session} has a branch ${name} already, which begins elsewhere. Choose another name.`
      : `There is a session ${name} already. Choose another id.`;
  return new HoldfastError("input-invalid", said, { session });
}
