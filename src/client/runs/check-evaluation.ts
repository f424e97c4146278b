import { findStrategyProblem, type StrategyType } from "../../conversation/evaluation/strategies.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import { EvaluationLimits, MAX_BRANCHES } from "../../schema/evaluation.ts";
import type { EvaluationResult } from "../../workflows/evaluation-input.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { checkCostLimit, checkOption } from "./check-option.ts";
import { INLINE_BYTES } from "./message-input.ts";
import { pinDefinition } from "./pin-definition.ts";

// Checks before several agents are started side by side.

export function findEvaluationProblem({
  agents,
  strategy,
  prompt,
  session,
}: {
  readonly agents: readonly AgentDefinitionInput[];
  readonly prompt?: unknown;
  readonly session?: string | undefined;
  readonly strategy: { readonly type: StrategyType };
}): string | undefined {
  if (agents.length > MAX_BRANCHES) {
    return `An evaluation has at most ${MAX_BRANCHES} branches, but got ${agents.length} configurations. Split it.`;
  }
  if (prompt === undefined && session === undefined) {
    return "An evaluation needs a prompt, or a session whose conversation waits for an answer.";
  }
  return findStrategyProblem(strategy.type, agents.length);
}

/** @param agents - All agents that share the limits. */
export function checkLimits(limits: EvaluationLimits | undefined, agents: readonly AgentDefinition[]): void {
  if (limits === undefined) return;
  checkCostLimit(checkOption(EvaluationLimits, limits, "limits"), agents);
}

/** Returns a function that pins definitions: inline if all of them together are short, otherwise by their hash. */
export async function createDefinitionPinner(link: ClientLink, agents: readonly AgentDefinition[]) {
  if (Buffer.byteLength(JSON.stringify(agents), "utf8") <= INLINE_BYTES) {
    return (definition: AgentDefinition) => pinDefinition(link, definition);
  }
  const transcript = await link.storage.openTranscript();
  return async (definition: AgentDefinition) => ({
    definitionHash: await transcript.saveDefinition(definition),
  });
}

export function createEvaluationNotStartedError({
  session,
  outcome,
}: Pick<EvaluationResult, "session" | "outcome">): HoldfastError {
  const reason = outcome.type === "failed" ? outcome.message : outcome.type;
  return new HoldfastError(
    "input-invalid",
    `The evaluation in session ${session} could not be completed: ${reason}`,
    {
      session,
    },
  );
}
