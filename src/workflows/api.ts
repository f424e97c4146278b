/**
 * Agents inside your own workflows: safe to import in workflow code.
 *
 * @module workflows
 */

export type { Cost } from "../core/budget/usage.ts";
export type { JobResult, PartResult } from "../core/job/job-result.ts";
export type { TeamMember, TeamResult } from "../core/job/team-status.ts";
export type { OutcomeCode } from "../core/machine/state/ended-children.ts";
export type { RunTotals } from "../core/machine/state/run-totals.ts";
export type { AgentDefinitionInput } from "../schema/definition.ts";
export type { EvaluationPlan } from "../schema/evaluation.ts";
export type { Outcome } from "../schema/record.ts";
export type { EvaluationRequest, EvaluationResult, ExplorationResult } from "./evaluation-input.ts";
export {
  agent,
  autonomous,
  evaluation,
  fanOut,
  pipeline,
  retention,
  suite,
  suiteShard,
  supervisor,
  wakeJob,
} from "./index.ts";
export type { MessageInput } from "./messages.ts";
export type { RetentionResult } from "./retention.ts";
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
