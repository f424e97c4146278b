import { type StrategyType, strategyProblem } from "../../conversation/evaluation/strategies.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import { EvaluationLimits, MAX_BRANCHES } from "../../schema/evaluation.ts";
import type { EvaluationResult } from "../../workflows/evaluation-input.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { checkCostLimit, checked } from "./checked.ts";
import { pinDefinition } from "./pinned-definition.ts";
import { INLINE_BYTES } from "./words.ts";

// What is looked at before several agents are started side by side.

export function problemOf({
  agents,
  strategy,
  prompt,
  session,
}: {
  readonly agents: readonly AgentDefinitionInput[];
  readonly prompt?: string | undefined;
  readonly session?: string | undefined;
  readonly strategy: { readonly type: StrategyType };
}): string | undefined {
  if (agents.length > MAX_BRANCHES) {
    return `An evaluation has at most ${MAX_BRANCHES} branches, and was given ${agents.length} configurations. Make several of it.`;
  }
  if (prompt === undefined && session === undefined) {
    return "An evaluation needs a prompt, or a session whose conversation waits for an answer.";
  }
  return strategyProblem(strategy.type, agents.length);
}

/** @param agents - All that draw on them. */
export function checkLimits(limits: EvaluationLimits | undefined, agents: readonly AgentDefinition[]): void {
  if (limits === undefined) return;
  checkCostLimit(checked(EvaluationLimits, limits, "limits"), agents);
}

/** Definitions travel inline where all of them together are short; else each is stored, and travels as its hash. */
export async function pinner(link: Link, agents: readonly AgentDefinition[]) {
  if (Buffer.byteLength(JSON.stringify(agents), "utf8") <= INLINE_BYTES) {
    return (definition: AgentDefinition) => pinDefinition(link, definition);
  }
  const transcript = await link.storage.transcript();
  return async (definition: AgentDefinition) => ({
    definitionHash: await transcript.saveDefinition(definition),
  });
}

export function notBegun({ session, outcome }: Pick<EvaluationResult, "session" | "outcome">): HoldfastError {
  const why = outcome.type === "failed" ? outcome.message : outcome.type;
  return new HoldfastError(
    "input-invalid",
    `The evaluation in session ${session} could not be made: ${why}`,
    {
      session,
    },
  );
}
