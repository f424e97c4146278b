/**
 * The zod schemas of definitions, messages, events and records, and the types that are inferred from them.
 *
 * @module schema
 */

export { AgentEvent, ConfigSnapshot, StreamDelta } from "./agent-event.ts";
export { AnswerSharing } from "./answer-sharing.ts";
export {
  CompactionConfig,
  type CompactionConfigInput,
  CompactionScope,
  ContextConfig,
  type ContextConfigInput,
} from "./context.ts";
export {
  AgentDefinition,
  type AgentDefinitionInput,
  ApprovalSettings,
  Delegation,
  QueueMode,
  SubAgent,
  type SubAgentInput,
} from "./definition.ts";
export { DefinitionChange } from "./definition-change.ts";
export {
  EvaluationAgent,
  EvaluationLimits,
  EvaluationPlan,
  PinnedStrategy,
  PlainStrategy,
} from "./evaluation.ts";
export { CommandHook, type HookPoint, Hooks, HookUse, NamedHook } from "./hooks.ts";
export { Limits, SubAgentLimits } from "./limits.ts";
export { EventBody, LoopEvent, Permission, QuestionRecord, RevertCategory } from "./loop-event.ts";
export { McpAuth, McpServer } from "./mcp.ts";
export {
  AgentMessage,
  AssistantMessage,
  Content,
  ExtensionMessage,
  FileContent,
  ImageContent,
  Message,
  MessageMetadata,
  StopReason,
  TextContent,
  ThinkingContent,
  ToolCallContent,
  ToolResultMessage,
  TurnId,
  Usage,
  UserMessage,
  VendorContent,
} from "./message.ts";
export { JobLimits, Stage, WorkMode, type WorkModeInput } from "./mode.ts";
export {
  CacheConfig,
  CostRates,
  ModelConfig,
  type ModelConfigInput,
  OpenAiCompat,
  Protocol,
  SecretReference,
  ThinkingLevel,
} from "./model.ts";
export {
  OpenApiAuth,
  OpenApiLimits,
  OpenApiSettings,
  type OpenApiSettingsInput,
  OperationFilter,
} from "./openapi.ts";
export { MAX_OUTPUT_SCHEMA_CHARS, OutputFormat, OutputRecovery, type StructuredOutput } from "./output.ts";
export {
  PermissionOutcome,
  PermissionPolicy,
  type PermissionPolicyInput,
  PermissionRule,
} from "./permission.ts";
export { ContinuationKind, Entry, EntryOrigin, LoopStatus, Outcome, TurnTrigger } from "./record.ts";
export { CompactionBlock, ParallelGroupRecord } from "./recorded-session.ts";
export { NudgeSettings, RepeatSettings, RetryConfig, RevertSettings } from "./recovery.ts";
export {
  SandboxBoundSettings,
  SandboxConnection,
  SandboxMode,
  SandboxNetwork,
  SandboxReport,
  SandboxSettings,
  type SandboxSettingsInput,
} from "./sandbox.ts";
export { MessageAddition, SentSessionEvent } from "./session-event.ts";
export { SkillSettings } from "./skills.ts";
export { ReplayClass, ToolDefinition, ToolStrategy } from "./tool.ts";
export { PinnedSources, PinnedTool, ToolSourceKind } from "./tool-source.ts";
