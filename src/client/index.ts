export type { EncryptionOptions } from "../codec/encryption.ts";
export type { AgentFileResult, LoadedAgent } from "../config/agent-file/load.ts";
export { type ReadAgentsOptions, readAgents } from "../config/agent-file/read.ts";
export type { ResolvedValue } from "../config/agent-file/resolved.ts";
export { type Problem, type ProblemKind, problemLine } from "../config/problem.ts";
export { withoutContextManagement } from "../config/unbounded.ts";
export type { ModelOptions } from "../config/vendor-models.ts";
export { isContextOverflow, modelMessage, turnIdOf, userMessage, withTurnId } from "../core/agent-message.ts";
export type { PendingApproval } from "../core/approvals.ts";
export type { BranchOutcome, BranchStatus } from "../core/evaluation/branch-outcome.ts";
export type { Decision } from "../core/evaluation/decision.ts";
export type { EvaluatedBranch } from "../core/evaluation/digest.ts";
export type { PartProgress } from "../core/evaluation/progress.ts";
export type { JobResult, PartResult } from "../core/job/job-result.ts";
export type { JobStatus, PartStatus } from "../core/job/job-status.ts";
export {
  childrenOf,
  type LoopOrigin,
  loopChainTo,
  loopOf,
  originOf,
  parallelSiblings,
  rootLoops,
  totalUsageOf,
} from "../core/loop-tree.ts";
export type { BlockOrigin, SourcedMessage } from "../core/provenance.ts";
export type { StatusWord } from "../core/status.ts";
export { type Cost, compareCosts } from "../core/usage.ts";
export type { AgentEvent } from "../schema/agent-event.ts";
export type { AgentDefinition, AgentDefinitionInput, Limits, QueueMode } from "../schema/definition.ts";
export type { AgentMessage } from "../schema/message.ts";
export type { JobLimits, WorkMode, WorkModeInput } from "../schema/mode.ts";
export type { OutputFormat } from "../schema/output.ts";
export type { PersonQuestion, PersonValues } from "../schema/person.ts";
export type { DefinitionChange, Entry, Formation, LoopEvent, Outcome } from "../schema/record.ts";
export type { RecordedLoop, RecordedSession, RecordedTurn } from "../schema/recorded-session.ts";
export type { RetentionPolicy, RetentionRule } from "../schema/retention.ts";
export type { Delta } from "../stream/stream.ts";
export type { Edited } from "../transcript/archive.ts";
export type { LoopRecord } from "../transcript/loop.ts";
export type {
  EvaluationRequest,
  EvaluationResult,
  ExplorationResult,
} from "../workflows/evaluation-input.ts";
export type { RunSettings } from "../workflows/input.ts";
export type { Approved } from "../workflows/messages.ts";
export type { RunResult } from "../workflows/result.ts";
export type { RetentionResult } from "../workflows/retention.ts";
export type { Accepted } from "./accepted.ts";
export type { AnswerOptions } from "./answer.ts";
export type { Answered, ApproveOptions, RefuseOptions } from "./approve.ts";
export type { Branched, BranchOptions } from "./branch-run.ts";
export type { BranchInTree, BranchOrigin, BranchTree } from "./branches.ts";
export { type AgentSnapshot, loadSnapshot, saveSnapshot } from "./checkpoint.ts";
export type { Compacting } from "./compact.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { ContinueOptions, RerunOptions } from "./continue.ts";
export { definitionHash } from "./definition-hash.ts";
export type { Deleted, DeleteOptions } from "./delete.ts";
export { HoldfastError, type HoldfastErrorCode, type HoldfastErrorFacts } from "./error.ts";
export { type EvaluateOptions, Evaluation, type EvaluationOutcome, evaluate } from "./evaluate.ts";
export {
  chosenBy,
  type EvaluationStrategy,
  elaborate,
  type JudgeStrategy,
  judgedBy,
  pickFirst,
  tokenEfficient,
  transparent,
} from "./evaluation-strategies.ts";
export { Exploration, type ExploredBranch, type ExploreOptions } from "./explore.ts";
export type { ExportOptions, Imported, ImportOptions } from "./export.ts";
export { type Extracted, extractJson } from "./extract-json.ts";
export type {
  FindOptions,
  FoundSession,
  Hit,
  SearchOptions,
  SessionsOptions,
  SessionsPage,
} from "./find.ts";
export type { ForkedBranch, ForkOptions } from "./fork.ts";
export type { Health, HealthOptions } from "./health.ts";
export { Holdfast } from "./holdfast.ts";
export { Job, type JobStanding } from "./job.ts";
export type { ListOptions, SessionSummary } from "./list.ts";
export {
  anthropic,
  azure,
  bedrock,
  google,
  local,
  openai,
  openaiResponses,
  openrouter,
  parseModel,
  vertex,
} from "./models.ts";
export type { SessionResult } from "./output.ts";
export type { PendingActivity } from "./pending-activity.ts";
export type { Prompted, PromptOptions } from "./prompt.ts";
export type { LoopHistory, MessagesOptions } from "./read.ts";
export type { WholeRecord } from "./record.ts";
export { type Rekeyed, type RekeyOptions, rekey } from "./rekey.ts";
export type { RequestOptions, TurnRequest } from "./request.ts";
export type { RestoreOptions } from "./restore-session.ts";
export type { RestoreWorkspaceOptions } from "./restore-workspace.ts";
export { Retention, type RetentionState, type SetRetentionOptions } from "./retention.ts";
export type { Rewinding } from "./rewind.ts";
export { messagesFromJson, messagesToJson } from "./saved-messages.ts";
export { sessionFromJson, sessionToJson } from "./saved-session.ts";
export {
  type CreateScheduleOptions,
  OVERLAP_WORDS,
  type Overlap,
  type ScheduleInfo,
  Schedules,
} from "./schedules.ts";
export type { SendOptions, Sent } from "./send.ts";
export type { MessageSent, SendMessageOptions, TakenAs } from "./send-message.ts";
export { Session } from "./session.ts";
export type { EventsOptions, SessionEvent } from "./session-events.ts";
export { type RecorderConfig, SessionRecorder } from "./session-recorder.ts";
export { FileSessionStore, type SessionStore } from "./session-store.ts";
export type { PlaceOptions } from "./spot.ts";
export type { RunMode, StartOptions } from "./start.ts";
export type { ResumeOptions, StartJobOptions } from "./start-job.ts";
export type { SessionStatus } from "./status.ts";
export type { Updated, UpdateOptions } from "./update.ts";
export type { WaitingCall } from "./waiting-calls.ts";
export type { WatchItem, WatchOptions } from "./watch.ts";
export { zodOutput } from "./zod-output.ts";
