import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { main } from "./worker/program.ts";

export type { Versioning } from "./config/worker-environment.ts";
export type { HookAnswer } from "./hooks/answer.ts";
export type { CompactionRequest, CompactionStrategy } from "./hooks/compaction-strategy.ts";
export type { ContextConverter, ContextFacts, ContextTransform } from "./hooks/context-functions.ts";
export type {
  EvaluatedResponse,
  EvaluationAsked,
  EvaluationChoice,
  EvaluationStrategyFunction,
} from "./hooks/evaluation-strategy.ts";
export type { FilterResult, InputFilter } from "./hooks/filters.ts";
export type { HookContexts } from "./hooks/hook-point.ts";
export type { Reducer, ReducerPart } from "./hooks/reducer.ts";
export type { HookFunction, HookFunctions, HookPolicy } from "./hooks/registry.ts";
export type { ModelDelta, ModelRequest, Provider, StreamOptions } from "./models/provider.ts";
export { ProviderError, type ProviderFault } from "./models/provider-error.ts";
export type { HookPoint } from "./schema/hooks.ts";
export type { DefaultToolOptions } from "./tools/builtin/default-tools.ts";
export {
  OutsideError,
  type PinContext,
  type PinnedPart,
  type ToolSource,
} from "./tools/sources/source.ts";
export { defineTool } from "./tools/tool.ts";
export { createWorker } from "./worker/create.ts";
export type { HoldfastWorker, HoldfastWorkerOptions } from "./worker/options.ts";
export { WORKER_SETTINGS } from "./worker/settings.ts";

const started = process.argv[1];
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
