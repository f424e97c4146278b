/**
 * Agents inside your own workflows: safe to import in workflow code.
 *
 * @module workflows
 */

export type { TeamMember, TeamResult } from "../core/job/team-status.ts";
export type { RunTotals } from "../core/machine/state/run-totals.ts";
export type { AgentDefinitionInput } from "../schema/definition.ts";
export type { EvaluationPlan } from "../schema/evaluation.ts";
export type { EvaluationRequest, EvaluationResult } from "./evaluation-input.ts";
export {
  agent,
  autonomous,
  evaluation,
  fanOut,
  pipeline,
  retention,
  supervisor,
  wakeJob,
} from "./index.ts";
export type { MessageInput } from "./messages.ts";
export type { RunResult } from "./run-result.ts";
export {
  type AgentHandle,
  type AgentMessages,
  type AgentResult,
  executeAgent,
  getAgentHandle,
  type StartAgentOptions,
  startAgent,
} from "./start-agent.ts";
