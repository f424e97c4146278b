import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { Limits } from "../../schema/limits.ts";
import type { BranchPosition } from "../../store/transcript/fork.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { createPositionReader, findPosition, type PositionOptions } from "../read/branch-position.ts";
import { assertDefinitionAccepted } from "../runs/accept-definition.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";
import { launchByHash, type StartResult, startRun } from "../runs/start-run.ts";

/** Where a branch begins, and what its run differs in. */
export type BranchOptions = PositionOptions & {
  /** The prompt at the position; before a loop's first turn, it replaces the loop's prompts. Default: the model answers again. */
  readonly prompt?: string;
  /** Replaces the session's definition. */
  readonly agent?: AgentDefinitionInput;
  /** The fields that differ from the session's definition, such as another model. */
  readonly changes?: Partial<AgentDefinitionInput>;
  /** Limits that replace the definition's for the branch's run. */
  readonly limits?: Partial<Limits>;
};

/** The run that works on the branch. */
export type BranchResult = StartResult & {
  /** Where the branch begins. */
  readonly at: BranchPosition;
};

/**
 * Starts a run on a new branch at a past position, with the context that the model had there. The later part of the old
 * branch stays in the record. Files remain unchanged.
 */
export async function branchSession(
  link: ClientLink,
  session: string,
  { prompt, agent, changes, limits, ...position }: BranchOptions = {},
): Promise<BranchResult> {
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const reader = createPositionReader(transcript, record);
    const at = await findPosition(reader, position, prompt !== undefined);
    const continuation: Continuation = {
      kind: { type: "branch", tag: new Date().toISOString() },
      at,
      ...omitUndefined({ limits }),
    };
    const options = { session, continuation, ...omitUndefined({ prompt }) };
    if (agent === undefined && changes === undefined) {
      return { ...(await launchByHash(link, options, record.definitionHash)), at };
    }
    if (agent === undefined) await assertDefinitionAccepted(transcript, session, record.definitionHash);
    const base = agent ?? (await transcript.readDefinition(record.definitionHash));
    if (base === undefined) {
      throw new HoldfastError(
        "input-invalid",
        `The definition of session ${session} is not in the transcript.`,
        {
          session,
        },
      );
    }
    return { ...(await startRun(link, { ...options, agent: { ...base, ...changes } })), at };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
