import type { AgentDefinition } from "../../schema/definition.ts";
import { OWN_PREFIXES, type Spot } from "../../store/transcript/fork.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated } from "../failures.ts";
import { askedOf, noSpot, type PlaceOptions, spotBehind } from "../read/spot.ts";
import { mustBeAccepted } from "../runs/accepted.ts";
import { knownSession } from "../runs/known-session.ts";
import { sessionId } from "../session-id.ts";
import { type RestoreWorkspaceOptions, restoreWorkspace, snapshotAt } from "./restore-workspace.ts";

export type ForkOptions = PlaceOptions & {
  /** Of the new branch; `branch-1`, `branch-2`, … unless said. */
  readonly name?: string;
  /**
   * The id of a new session, which begins with what stands before the place: both can be at work at the same time.
   * Without it the branch is one more of the same session.
   */
  readonly as?: string;
  /** Brings back the files as they were at the place, where the agent's definition has had them kept (`snapshots`). */
  readonly restoreWorkspace?: RestoreWorkspaceOptions;
};

export type ForkedBranch = {
  readonly session: string;
  readonly branch: string;
  /** Nothing is copied: the new branch shows what this one has before the position. */
  readonly from: Spot & { readonly session: string };
  /** The folder of the session's agent. Its files are as they are now, whatever the place. */
  readonly workspace?: string;
  /** Where files were brought back: a new session works there, a branch when its run is given this as workspace. */
  readonly restored?: { readonly workspace: string; readonly commit: string; readonly position: number };
};

/**
 * Begins a branch at a place of the conversation, by reference. The session's head stays where it is, and a run that is
 * at work goes on on its own branch.
 */
export async function forkSession(
  link: Link,
  session: string,
  { name, as, restoreWorkspace: restoring, ...place }: ForkOptions = {},
): Promise<ForkedBranch> {
  if (name !== undefined) checkBranchName(name);
  const into = as === undefined ? undefined : sessionId(as);
  try {
    const { transcript, record } = await knownSession(link, session);
    const at = await spotBehind(askedOf(transcript, record), place);
    const kept = restoring === undefined ? undefined : await snapshotAt(transcript, session, at);
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
    const definition = await transcript.definition(record.definitionHash);
    const { workspace } = definition ?? {};
    const given = { ...made, ...(workspace === undefined ? {} : { workspace }) };
    if (kept === undefined || restoring === undefined) return given;
    const folder = await restoreWorkspace(transcript, session, kept, restoring, into ?? made.branch);
    if (into !== undefined && definition !== undefined) {
      await mustBeAccepted(transcript, session, record.definitionHash);
      await moveTo(transcript, into, { ...definition, workspace: folder });
    }
    return { ...given, restored: { workspace: folder, commit: kept.commit, position: kept.at.position } };
  } catch (error) {
    throw translated(error, link, session);
  }
}

async function moveTo(transcript: Transcript, session: string, definition: AgentDefinition): Promise<void> {
  const definitionHash = await transcript.saveDefinition(definition);
  const { name: agentName, model } = definition;
  await transcript.setDefinition(session, { definitionHash, agentName, model: model.id });
}

const BRANCH_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function checkBranchName(name: string): void {
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
