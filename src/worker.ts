/**
 * Creates a worker that runs agents, with tools, hooks, filters, strategies and vendors of your own.
 *
 * @module worker
 */

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runWorkerProgram } from "./worker/program.ts";

export type { Versioning } from "./config/worker-environment.ts";
export type { Cost } from "./core/budget/usage.ts";
export type { BranchStatus } from "./core/evaluation/branch-outcome.ts";
export type { ToolListChange } from "./core/machine/state/run-event.ts";
export type { HookAnswer, HookAnswersByPoint, PlainHookAnswer } from "./hooks/answer.ts";
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
export type {
  HookCallContext,
  HookContexts,
  HookLoopContext,
  HookSessionContext,
  HookTurnContext,
} from "./hooks/hook-point.ts";
export type { HookFunction, HookFunctions, HookPolicy } from "./hooks/hook-registry.ts";
export type { Reducer, ReducerPart } from "./hooks/reducer.ts";
export type { ScorerAnswer, ScorerFunction, ScorerRequest } from "./hooks/scorer-function.ts";
export type {
  ModelDelta,
  ModelRequest,
  OutputMode,
  Provider,
  RequestWait,
  StreamOptions,
} from "./models/provider.ts";
export { ProviderError, type ProviderErrorFacts, type ProviderFault } from "./models/provider-error.ts";
export type { LimitUnit, RateLimit, RateLimits } from "./models/rate-limits/rate-limits.ts";
export type { SecretSource } from "./models/secrets.ts";
export { translateContext } from "./models/translate-context.ts";
export type { EncryptionOptions } from "./platform/encryption/resolve-encryption.ts";
export type { Logger } from "./platform/log.ts";
export type {
  CompactionConfigInput,
  ContextConfigInput,
  WantedForm,
  WantedSection,
} from "./schema/context.ts";
export type { CredentialsInput } from "./schema/credentials.ts";
export type { AgentDefinition, AgentDefinitionInput, SubAgentInput } from "./schema/definition.ts";
export type { CommandHook, HookPoint, NamedHook, UpdatePoint } from "./schema/hooks.ts";
export type { AgentMessage, AssistantMessage, Message, Usage } from "./schema/message.ts";
export type { CacheConfig, ModelConfig, Protocol, ThinkingLevel } from "./schema/model.ts";
export type { StructuredOutput } from "./schema/output.ts";
export type { Entry } from "./schema/record.ts";
export type { SandboxMode, SandboxSettingsInput } from "./schema/sandbox.ts";
export type { ScoredCall, ScoreSubject } from "./schema/score-subject.ts";
export type { ToolDefinition } from "./schema/tool.ts";
export type { PinnedSources, PinnedTool, ToolSourceKind } from "./schema/tool-source.ts";
export type { VendorLimits, WorkerLimits } from "./schema/vendor-limits.ts";
export type { BashToolOptions } from "./tools/builtin/bash-tool.ts";
export type { DefaultToolOptions } from "./tools/builtin/default-tools.ts";
export type { ListFilesToolOptions } from "./tools/builtin/list-files-tool.ts";
export type { ReadFileToolOptions } from "./tools/builtin/read-file-tool.ts";
export type { SearchToolOptions } from "./tools/builtin/search-tool.ts";
export {
  type ActiveLoop,
  type PinContext,
  type SourceLog,
  type SourcePin,
  type ToolSource,
  ToolSourceError,
} from "./tools/sources/tool-source.ts";
export { defineTool, type ExecutableTool, type Tool } from "./tools/tool.ts";
export type {
  AgentFor,
  BuiltInCompaction,
  BuiltInTool,
  ContextFor,
  HookUseFor,
  RegisteredName,
  RegisteredToolName,
  Registry,
} from "./worker/agent-for.ts";
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
