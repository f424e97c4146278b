import type { AgentDefinition } from "../../schema/definition.ts";
import { type BranchPosition, GENERATED_PREFIXES } from "../../store/transcript/fork.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import {
  createPositionError,
  createPositionReader,
  findPositionAfter,
  type PositionOptions,
} from "../read/branch-position.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { assertDefinitionAccepted } from "../runs/accept-definition.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";
import { findSnapshotAt, type RestoreWorkspaceOptions, restoreWorkspace } from "./restore-workspace.ts";

export type ForkOptions = PositionOptions & {
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
  readonly from: BranchPosition & { readonly session: string };
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
  link: ClientLink,
  session: string,
  { name, as, restoreWorkspace: restoreOption, ...position }: ForkOptions = {},
): Promise<ForkedBranch> {
  if (name !== undefined) checkBranchName(name);
  const into = as === undefined ? undefined : resolveSessionId(as);
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const at = await findPositionAfter(createPositionReader(transcript, record), position);
    const snapshot = restoreOption === undefined ? undefined : await findSnapshotAt(transcript, session, at);
    const forked = await transcript.fork({
      session,
      atMs: Date.now(),
      at,
      ...(name === undefined ? {} : { name }),
      ...(into === undefined ? {} : { into }),
    });
    if (forked.type === "taken") throw createNameTakenError(session, forked.what, forked.name);
    if (forked.type !== "forked") throw createPositionError(session, forked);
    const { type: _, ...created } = forked;
    const definition = await transcript.readDefinition(record.definitionHash);
    const { workspace } = definition ?? {};
    const overrides = { ...created, ...(workspace === undefined ? {} : { workspace }) };
    if (snapshot === undefined || restoreOption === undefined) return overrides;
    const folder = await restoreWorkspace(
      transcript,
      session,
      snapshot,
      restoreOption,
      into ?? created.branch,
    );
    if (into !== undefined && definition !== undefined) {
      await assertDefinitionAccepted(transcript, session, record.definitionHash);
      await setForkDefinition(transcript, into, { ...definition, workspace: folder });
    }
    return {
      ...overrides,
      restored: { workspace: folder, commit: snapshot.commit, position: snapshot.at.position },
    };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

async function setForkDefinition(
  transcript: Transcript,
  session: string,
  definition: AgentDefinition,
): Promise<void> {
  const definitionHash = await transcript.saveDefinition(definition);
  const { name: agentName, model } = definition;
  await transcript.setDefinition(session, { definitionHash, agentName, model: model.id });
}

const BRANCH_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function checkBranchName(name: string): void {
  const own = GENERATED_PREFIXES.find((prefix) => name.startsWith(prefix));
  const problem =
    own !== undefined
      ? `names that begin with "${own}" are given by the transcript itself`
      : BRANCH_NAME.test(name)
        ? undefined
        : "it has up to 64 letters, digits, dots, dashes and underscores, and begins with a letter or a digit";
  if (problem === undefined) return;
  throw new HoldfastError("input-invalid", `"${name.slice(0, 80)}" cannot be a branch's name: ${problem}.`);
}

function createNameTakenError(session: string, kind: "branch" | "session", name: string): HoldfastError {
  const description =
    kind === "branch"
      ? `Session ${session} has a branch ${name} already, which begins elsewhere. Choose another name.`
      : `There is a session ${name} already. Choose another id.`;
  return new HoldfastError("input-invalid", description, { session });
}
