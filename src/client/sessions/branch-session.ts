import type { AgentDefinitionInput, Continuation, Limits } from "../../schema/definition.ts";
import type { BranchPosition } from "../../store/transcript/fork.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import {
  createPositionReader,
  findReplacementPosition,
  type PositionOptions,
} from "../read/branch-position.ts";
import { assertDefinitionAccepted } from "../runs/accept-definition.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";
import { launchByHash, type StartResult, startRun } from "../runs/start-run.ts";

export type BranchOptions = PositionOptions & {
  /** Asked at the place; of a loop's first turn, in place of what it was asked with. Left out: the model is asked again. */
  readonly prompt?: string;
  /** In place of the session's definition. */
  readonly agent?: AgentDefinitionInput;
  /** What of the session's definition is different: another model, for instance. */
  readonly changes?: Partial<AgentDefinitionInput>;
  readonly limits?: Partial<Limits>;
};

export type BranchResult = StartResult & { readonly at: BranchPosition };

/**
 * Starts again from a place of the past: a run on a branch of its own, which begins with what the model saw there. What
 * came of it before stays in the record. Files stay as they are.
 */
export async function branchSession(
  link: ClientLink,
  session: string,
  { prompt, agent, changes, limits, ...position }: BranchOptions = {},
): Promise<BranchResult> {
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const reader = createPositionReader(transcript, record);
    const at = await findReplacementPosition(reader, position, prompt !== undefined);
    const continuation: Continuation = {
      kind: { type: "branch", tag: new Date().toISOString() },
      at,
      ...(limits === undefined ? {} : { limits }),
    };
    const options = { session, continuation, ...(prompt === undefined ? {} : { prompt }) };
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
