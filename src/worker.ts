/**
 * Creates a worker that runs agents, with tools, hooks, filters, strategies and vendors of your own.
 *
 * @module worker
 */

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runWorkerProgram } from "./worker/program.ts";

export type { Versioning } from "./config/worker-environment.ts";
export type { HookAnswer } from "./hooks/answer.ts";
export type { CompactionRequest, CompactionStrategy } from "./hooks/compaction-strategy.ts";
export type {
  ContextConverter,
  ContextFacts,
  ContextTransform,
  ContextTranslation,
  TranslationTarget,
} from "./hooks/context-functions.ts";
export type {
  EvaluatedResponse,
  EvaluationChoice,
  EvaluationStrategyFunction,
  EvaluationStrategyRequest,
} from "./hooks/evaluation-strategy.ts";
export type { FilterResult, InputFilter } from "./hooks/filters.ts";
export type { HookContexts } from "./hooks/hook-point.ts";
export type { HookFunction, HookFunctions, HookPolicy } from "./hooks/hook-registry.ts";
export type { Reducer, ReducerPart } from "./hooks/reducer.ts";
export type { ModelDelta, ModelRequest, Provider, StreamOptions } from "./models/provider.ts";
export { ProviderError, type ProviderFault } from "./models/provider-error.ts";
export { translateContext } from "./models/translate-context.ts";
export type { HookPoint } from "./schema/hooks.ts";
export type { DefaultToolOptions } from "./tools/builtin/default-tools.ts";
export {
  type PinContext,
  type SourcePin,
  type ToolSource,
  ToolSourceError,
} from "./tools/sources/tool-source.ts";
export { defineTool } from "./tools/tool.ts";
export type { AgentFor, RegisteredName, Registry } from "./worker/agent-for.ts";
export { createWorker } from "./worker/create-worker.ts";
export type { HoldfastWorker, HoldfastWorkerOptions } from "./worker/options.ts";
export { WORKER_SETTINGS } from "./worker/settings.ts";

const entryFile = process.argv[1];
if (entryFile !== undefined && realpathSync(entryFile) === fileURLToPath(import.meta.url)) {
  runWorkerProgram().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
