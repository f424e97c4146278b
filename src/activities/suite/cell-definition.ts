import type { AnswerSharing } from "../../schema/answer-sharing.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PlannedCell, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/** Nobody answers the questions of a cell: a call that needs approval is denied after this time, unless the agent says more. */
const APPROVAL_TIMEOUT_MS = 1000;

/** The most derived definitions that are remembered. */
const MAX_CACHED = 1024;

export type DerivedDefinition = { readonly definition: AgentDefinition; readonly hash: string };

/** Derives what cells run with from what their configuration states, and stores it. */
export class CellDefinitions {
  readonly #transcript: Pick<Transcript, "saveDefinition">;
  readonly #cache = new Map<string, Promise<DerivedDefinition>>();

  constructor(transcript: Pick<Transcript, "saveDefinition">) {
    this.#transcript = transcript;
  }

  /** @param workspace - The folder of the cell, if it has one of its own. */
  derive(
    base: { readonly hash: string; readonly definition: AgentDefinition },
    sharing: AnswerSharing,
    workspace?: string,
  ): Promise<DerivedDefinition> {
    const key = `${base.hash}/${sharing.repetition}/${workspace ?? ""}`;
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const definition = deriveCellDefinition(base.definition, sharing, workspace);
    const derived = this.#transcript.saveDefinition(definition).then((hash) => ({ definition, hash }));
    if (this.#cache.size >= MAX_CACHED) this.#cache.delete(this.#cache.keys().next().value as string);
    this.#cache.set(key, derived);
    derived.catch(() => this.#cache.delete(key));
    return derived;
  }
}

/** Adds to a definition, and to those of its sub-agents, that answers are shared and that nobody answers questions. */
export function deriveCellDefinition(
  definition: AgentDefinition,
  sharing: AnswerSharing,
  workspace?: string,
): AgentDefinition {
  const { approvals, subAgents } = definition;
  return {
    ...definition,
    answers: { ...sharing },
    approvals: { ...approvals, timeoutMs: approvals.timeoutMs ?? APPROVAL_TIMEOUT_MS },
    followUpMode: "one-at-a-time",
    ...(workspace === undefined ? {} : { workspace }),
    ...(subAgents === undefined
      ? {}
      : {
          subAgents: subAgents.map((one) => ({
            ...one,
            agent: deriveCellDefinition(one.agent, sharing, workspace),
          })),
        }),
  };
}

/** Returns with whom a cell shares its answers: with all runs, unless its own run is a fresh one. */
export function getSharing(
  { id, plan }: Pick<SuiteRunRecord, "id" | "plan">,
  { repetition }: Pick<PlannedCell, "repetition">,
): AnswerSharing {
  return plan.fresh === true ? { repetition, run: id } : { repetition };
}
