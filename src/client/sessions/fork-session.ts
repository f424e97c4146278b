import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { type BranchPosition, GENERATED_PREFIXES } from "../../store/transcript/fork.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import {
  createPositionError,
  createPositionReader,
  findPosition,
  type PositionOptions,
} from "../read/branch-position.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { assertDefinitionAccepted } from "../runs/accept-definition.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";
import { findSnapshotAt, type RestoreWorkspaceOptions, restoreWorkspace } from "./restore-workspace.ts";

/** Where a fork begins, and where it goes. */
export type ForkOptions = PositionOptions & {
  /** The name of the new branch; `branch-1`, `branch-2`, … by default. */
  readonly name?: string;
  /**
   * The id of a new session, which begins with everything before the position. Both sessions can run at the same time.
   * Without it, the branch belongs to the same session.
   */
  readonly as?: string;
  /** Restores the files as they were at the position, if the agent's definition has `snapshots` enabled. */
  readonly restoreWorkspace?: RestoreWorkspaceOptions;
};

/** The branch or session that a fork has made. */
export type ForkedBranch = {
  readonly session: string;
  readonly branch: string;
  /** Nothing is copied: the new branch refers to everything before this position. */
  readonly from: BranchPosition & { readonly session: string };
  /** The folder of the session's agent. Its files are the current ones, whatever the position. */
  readonly workspace?: string;
  /** The restored files: a new session works in this folder; a branch does if you pass it to its run as the workspace. */
  readonly restored?: {
    /** The folder with the files. */

    readonly workspace: string;
    /** The git commit of the snapshot. */
    readonly commit: string;
    /** The position to which the files belong. */
    readonly position: number;
  };
};

/**
 * Begins a branch at a position of the conversation, by reference. The session's head does not change, and an open run
 * continues on its own branch.
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
    const at = await findPosition(createPositionReader(transcript, record), position);
    const snapshot = restoreOption === undefined ? undefined : await findSnapshotAt(transcript, session, at);
    const forked = await transcript.fork({
      session,
      atMs: Date.now(),
      at,
      ...omitUndefined({ name, into }),
    });
    if (forked.type === "taken") throw createNameTakenError(session, forked.kind, forked.name);
    if (forked.type !== "forked") throw createPositionError(session, forked);
    const { type: _, ...created } = forked;
    const definition = await transcript.readDefinition(record.definitionHash);
    const { workspace } = definition ?? {};
    const overrides = { ...created, ...omitUndefined({ workspace }) };
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
      ? `the transcript itself assigns the names that begin with "${own}"`
      : BRANCH_NAME.test(name)
        ? undefined
        : "it has up to 64 letters, digits, dots, dashes and underscores, and begins with a letter or a digit";
  if (problem === undefined) return;
  throw new HoldfastError("input-invalid", `"${name.slice(0, 80)}" is not a valid branch name: ${problem}.`);
}

function createNameTakenError(session: string, kind: "branch" | "session", name: string): HoldfastError {
  const description =
    kind === "branch"
      ? `Session ${session} already has a branch ${name}, which begins elsewhere. Choose another name.`
      : `A session ${name} already exists. Choose another id.`;
  return new HoldfastError("input-invalid", description, { session });
}
