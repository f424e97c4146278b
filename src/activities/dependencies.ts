import type { CompactionStrategy } from "../hooks/compaction-strategy.ts";
import type { ContextConverter, ContextTransform, ContextTranslation } from "../hooks/context-functions.ts";
import type { EvaluationStrategyFunction } from "../hooks/evaluation-strategy.ts";
import type { FilterRegistry } from "../hooks/filters.ts";
import type { HookRegistry } from "../hooks/hook-registry.ts";
import type { NamedRegistry } from "../hooks/named-registry.ts";
import type { Reducer } from "../hooks/reducer.ts";
import type { ScorerFunction } from "../hooks/scorer-function.ts";
import type { Outages } from "../models/outages.ts";
import type { ProviderRegistry } from "../models/provider-registry.ts";
import type { SecretSource } from "../models/secrets.ts";
import type { Logger } from "../platform/log.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { StreamHub } from "../store/stream/stream-hub.ts";
import type { Transcript } from "../store/transcript/transcript.ts";
import type { Sandboxes } from "../tools/sandbox/sandboxes.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { AgentRunSettings } from "./activity-types.ts";
import type { Conversations } from "./step/conversations.ts";
import type { Definitions } from "./step/definitions.ts";

/** What the activities work with; `worker.ts` builds it. */
export type Dependencies = {
  readonly transcript: Transcript;
  readonly hub: StreamHub;
  readonly providers: ProviderRegistry;
  readonly tools: ToolRegistry;
  readonly filters: FilterRegistry;
  readonly hooks: HookRegistry;
  readonly transforms: NamedRegistry<ContextTransform>;
  readonly converters: NamedRegistry<ContextConverter>;
  readonly translations: NamedRegistry<ContextTranslation>;
  readonly compactions: NamedRegistry<CompactionStrategy>;
  readonly reducers: NamedRegistry<Reducer>;
  readonly evaluations: NamedRegistry<EvaluationStrategyFunction>;
  readonly scorers: NamedRegistry<ScorerFunction>;
  readonly secrets: SecretSource;
  readonly outages: Outages;
  readonly definitions: Definitions;
  readonly conversations: Conversations;
  readonly sandboxes: Sandboxes;
  /** The id under which this worker is registered. */
  readonly process: string;
  /** The workspace of runs whose definition names no folder. */
  readonly defaultWorkspace: string;
  /** The folder in which the workspaces of a suite's cells are made. */
  readonly cellWorkspaces: string;
  /** The tools that are activities of the worker, by name. Absent: the worker answers every activity type. */
  readonly registeredTools?: ReadonlySet<string>;
  /** The agents that workflows of the application start by name. */
  readonly agents?: Readonly<Record<string, AgentDefinition>>;
  /** The settings of these agents' runs. */
  readonly agentSettings?: AgentRunSettings;
  readonly log: Logger;
};
