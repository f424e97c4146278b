/**
 * The zod schemas of definitions, messages, events and records, and the types that are inferred from them.
 *
 * @module schema
 */

export { AgentEvent, ConfigSnapshot, StreamDelta } from "./agent-event.ts";
export { AgentDefinition, type AgentDefinitionInput, Limits, QueueMode, RetryConfig } from "./definition.ts";
export { EventBody, LoopEvent } from "./loop-event.ts";
export {
  AgentMessage,
  AssistantMessage,
  Content,
  ExtensionMessage,
  ImageContent,
  Message,
  StopReason,
  TextContent,
  ThinkingContent,
  ToolCallContent,
  ToolResultMessage,
  TurnId,
  Usage,
  UserMessage,
} from "./message.ts";
export { JobLimits, Stage, WorkMode, type WorkModeInput } from "./mode.ts";
export {
  CacheConfig,
  CostRates,
  ModelConfig,
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
export { MAX_OUTPUT_SCHEMA_CHARS, OutputFormat, type StructuredOutput } from "./output.ts";
export { ContinuationKind, Entry, EntryOrigin, LoopStatus, Outcome, TurnTrigger } from "./record.ts";
export { MessageAddition, SentSessionEvent } from "./session-event.ts";
export { ReplayClass, ToolDefinition, ToolStrategy } from "./tool.ts";
