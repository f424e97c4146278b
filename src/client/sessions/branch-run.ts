import type { AgentDefinitionInput, Continuation, Limits } from "../../schema/definition.ts";
import type { Spot } from "../../store/transcript/fork.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated } from "../failures.ts";
import { askedOf, type PlaceOptions, spotInstead } from "../read/spot.ts";
import { mustBeAccepted } from "../runs/accepted.ts";
import { knownSession } from "../runs/known-session.ts";
import { launchByHash, type Started, startRun } from "../runs/start.ts";

export type BranchOptions = PlaceOptions & {
  /** Asked at the place; of a loop's first turn, in place of what it was asked with. Left out: the model is asked again. */
  readonly prompt?: string;
  /** In place of the session's definition. */
  readonly agent?: AgentDefinitionInput;
  /** What of the session's definition is different: another model, for instance. */
  readonly changes?: Partial<AgentDefinitionInput>;
  readonly limits?: Partial<Limits>;
};

export type Branched = Started & { readonly at: Spot };

/**
 * Starts again from a place of the past: a run on a branch of its own, which begins with what the model saw there. What
 * came of it before stays in the record. Files stay as they are.
 */
export async function branchSession(
  link: Link,
  session: string,
  { prompt, agent, changes, limits, ...place }: BranchOptions = {},
): Promise<Branched> {
  try {
    const { transcript, record } = await knownSession(link, session);
    const asked = askedOf(transcript, record);
    const at = await spotInstead(asked, place, prompt !== undefined);
    const continuation: Continuation = {
      kind: { type: "branch", tag: new Date().toISOString() },
      at,
      ...(limits === undefined ? {} : { limits }),
    };
    const options = { session, continuation, ...(prompt === undefined ? {} : { prompt }) };
    if (agent === undefined && changes === undefined) {
      return { ...(await launchByHash(link, options, record.definitionHash)), at };
    }
    if (agent === undefined) await mustBeAccepted(transcript, session, record.definitionHash);
    const base = agent ?? (await transcript.definition(record.definitionHash));
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
    throw translated(error, link, session);
  }
}
