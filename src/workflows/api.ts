/**
 * Agents inside your own workflows: safe to import in workflow code.
 *
 * @module workflows
 */

export type { AgentDefinitionInput } from "../schema/definition.ts";
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
