export type { AgentFileResult, LoadedAgent } from "../config/agent-file/load.ts";
export { type ReadAgentsOptions, readAgents } from "../config/agent-file/read.ts";
export type { ResolvedValue } from "../config/agent-file/resolved.ts";
export { type Problem, type ProblemKind, problemLine } from "../config/problem.ts";
export { withoutContextManagement } from "../config/unbounded.ts";
export type { ModelOptions } from "../config/vendor-models.ts";
export {
  childrenOf,
  type LoopOrigin,
  loopChainTo,
  loopOf,
  originOf,
  parallelSiblings,
  rootLoops,
  totalUsageOf,
} from "../conversation/loop-tree.ts";
export type { BlockOrigin, SourcedMessage } from "../conversation/provenance.ts";
export { type Cost, compareCosts } from "../core/budget/usage.ts";
export type { BranchOutcome, BranchStatus } from "../core/evaluation/branch-outcome.ts";
export type { Decision } from "../core/evaluation/decision.ts";
export type { EvaluatedBranch } from "../core/evaluation/digest.ts";
export type { PartProgress } from "../core/evaluation/progress.ts";
export type { JobResult, PartResult } from "../core/job/job-result.ts";
export type { JobStatus, PartStatus } from "../core/job/job-status.ts";
export type { PendingApproval } from "../core/machine/approvals.ts";
export type { StatusWord } from "../core/machine/status.ts";
export type { EncryptionOptions } from "../platform/encryption/encryption.ts";
export type { AgentEvent } from "../schema/agent-event.ts";
export type { AgentDefinition, AgentDefinitionInput, Limits, QueueMode } from "../schema/definition.ts";
export type { AgentMessage } from "../schema/message.ts";
export type { JobLimits, WorkMode, WorkModeInput } from "../schema/mode.ts";
export type { OutputFormat } from "../schema/output.ts";
export type { PersonQuestion, PersonValues } from "../schema/person.ts";
export type { DefinitionChange, Entry, Formation, LoopEvent, Outcome } from "../schema/record.ts";
export type { RecordedLoop, RecordedSession, RecordedTurn } from "../schema/recorded-session.ts";
export type { RetentionPolicy, RetentionRule } from "../schema/retention.ts";
export type { Delta } from "../store/stream/stream.ts";
export type { Edited } from "../store/transcript/archive.ts";
export type { LoopRecord } from "../store/transcript/loop.ts";
export type {
  EvaluationRequest,
  EvaluationResult,
  ExplorationResult,
} from "../workflows/evaluation-input.ts";
export type { RunSettings } from "../workflows/input.ts";
export type { Approved } from "../workflows/messages.ts";
export type { RunResult } from "../workflows/result.ts";
export type { RetentionResult } from "../workflows/retention.ts";
export { type ConnectOptions, connect } from "./connection/connect.ts";
export type { Health, HealthOptions } from "./connection/health.ts";
export { HoldfastError, type HoldfastErrorCode, type HoldfastErrorFacts } from "./error.ts";
export { Holdfast } from "./holdfast.ts";
export {
  isContextOverflow,
  modelMessage,
  turnIdOf,
  userMessage,
  withTurnId,
} from "./interop/agent-message.ts";
export { messagesFromJson, messagesToJson } from "./interop/saved-messages.ts";
export { sessionFromJson, sessionToJson } from "./interop/saved-session.ts";
export { type RecorderConfig, SessionRecorder } from "./interop/session-recorder.ts";
export { FileSessionStore, type SessionStore } from "./interop/session-store.ts";
export type { BranchInTree, BranchOrigin, BranchTree } from "./read/branches.ts";
export type {
  FindOptions,
  FoundSession,
  Hit,
  SearchOptions,
  SessionsOptions,
  SessionsPage,
} from "./read/find.ts";
export type { ListOptions, SessionSummary } from "./read/list.ts";
export type { LoopHistory, MessagesOptions } from "./read/read.ts";
export type { WholeRecord } from "./read/record.ts";
export type { RequestOptions, TurnRequest } from "./read/request.ts";
export type { EventsOptions, SessionEvent } from "./read/session-events.ts";
export type { PlaceOptions } from "./read/spot.ts";
export type { WatchItem, WatchOptions } from "./read/watch.ts";
export type { Accepted } from "./runs/accepted.ts";
export type { AnswerOptions } from "./runs/answer.ts";
export type { Answered, ApproveOptions, RefuseOptions } from "./runs/approve.ts";
export type { Compacting } from "./runs/compact.ts";
export type { ContinueOptions, RerunOptions } from "./runs/continue.ts";
export { definitionHash } from "./runs/definition-hash.ts";
export { type EvaluateOptions, Evaluation, type EvaluationOutcome, evaluate } from "./runs/evaluate.ts";
export {
  chosenBy,
  type EvaluationStrategy,
  elaborate,
  type JudgeStrategy,
  judgedBy,
  pickFirst,
  tokenEfficient,
  transparent,
} from "./runs/evaluation-strategies.ts";
export { Exploration, type ExploredBranch, type ExploreOptions } from "./runs/explore.ts";
export { type Extracted, extractJson } from "./runs/extract-json.ts";
export { Job, type JobStanding } from "./runs/job.ts";
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
} from "./runs/models.ts";
export type { SessionResult } from "./runs/output.ts";
export type { PendingActivity } from "./runs/pending-activity.ts";
export type { Prompted, PromptOptions } from "./runs/prompt.ts";
export {
  type CreateScheduleOptions,
  OVERLAP_WORDS,
  type Overlap,
  type ScheduleInfo,
  Schedules,
} from "./runs/schedules.ts";
export type { SendOptions, Sent } from "./runs/send.ts";
export type { MessageSent, SendMessageOptions, TakenAs } from "./runs/send-message.ts";
export type { RunMode, StartOptions } from "./runs/start.ts";
export type { ResumeOptions, StartJobOptions } from "./runs/start-job.ts";
export type { SessionStatus } from "./runs/status.ts";
export type { Updated, UpdateOptions } from "./runs/update.ts";
export type { WaitingCall } from "./runs/waiting-calls.ts";
export { zodOutput } from "./runs/zod-output.ts";
export { Session } from "./session.ts";
export type { Branched, BranchOptions } from "./sessions/branch-run.ts";
export { type AgentSnapshot, loadSnapshot, saveSnapshot } from "./sessions/checkpoint.ts";
export type { Deleted, DeleteOptions } from "./sessions/delete.ts";
export type { ExportOptions, Imported, ImportOptions } from "./sessions/export.ts";
export type { ForkedBranch, ForkOptions } from "./sessions/fork.ts";
export { type Rekeyed, type RekeyOptions, rekey } from "./sessions/rekey.ts";
export type { RestoreOptions } from "./sessions/restore-session.ts";
export type { RestoreWorkspaceOptions } from "./sessions/restore-workspace.ts";
export { Retention, type RetentionState, type SetRetentionOptions } from "./sessions/retention.ts";
export type { Rewinding } from "./sessions/rewind.ts";
