/**
 * Starts, follows and steers agents from a program: `connect` returns a `Holdfast`, which returns a `Session`. `holdfast`
 * itself is the same entry point.
 *
 * @module client
 */

export type { ResolvedValue } from "../config/agent-file/list-resolved-values.ts";
export type { AgentFileResult, LoadedAgent } from "../config/agent-file/load-agents.ts";
export { type ReadAgentsOptions, readAgents } from "../config/agent-file/read-agents.ts";
export type { CatalogueEntry } from "../config/catalogue/catalogue-entry.ts";
export type { Thinking } from "../config/catalogue/catalogue-row.ts";
export { formatProblem, type Problem, type ProblemKind } from "../config/problem.ts";
export {
  type CheckedFile,
  type CheckedFileOptions,
  readCheckedFile,
} from "../config/read-checked-file.ts";
export { removeContextManagement } from "../config/remove-context-management.ts";
export type { SearchAttributeGaps } from "../config/search-attribute-gaps.ts";
export type { SourceFormat } from "../config/source/source-format.ts";
export {
  type CaseInput,
  type CasesInput,
  defineSuite,
  type JudgeInput,
  type ScorerInput,
  SuiteError,
  type SuiteInput,
} from "../config/suite-file/define-suite.ts";
export { type ReadSuiteOptions, readSuite, type SuiteFileResult } from "../config/suite-file/load-suite.ts";
export type {
  CaseCheck,
  LoadedConfiguration,
  LoadedScorer,
  LoadedSuite,
} from "../config/suite-file/loaded-suite.ts";
export type { AxisValue } from "../config/suite-file/matrix-axes.ts";
export type { SuiteCaseTable } from "../config/suite-file/suite-file-schema.ts";
export type { ModelOptions } from "../config/vendor-models.ts";
export {
  buildLoopChain,
  findChildren,
  findLoop,
  findParallelSiblings,
  findRootLoops,
  getLoopOrigin,
  type LoopOrigin,
  sumUsage,
  type TreeLoop,
} from "../conversation/loop-tree.ts";
export type { BlockOrigin, EntryLocation, SourcedMessage } from "../conversation/provenance.ts";
export type { StepWait, StoreWait, VendorWait } from "../conversation/step-wait.ts";
export type { Amounts } from "../core/budget/account-state.ts";
export type { Budget, BudgetPart } from "../core/budget/loop-budget.ts";
export { type Cost, compareCosts } from "../core/budget/usage.ts";
export type { BranchOutcome, BranchStatus } from "../core/evaluation/branch-outcome.ts";
export type { Decision } from "../core/evaluation/decision.ts";
export type { EvaluatedBranch } from "../core/evaluation/evaluation-digest.ts";
export type { EvaluationDetails, PartProgress } from "../core/evaluation/evaluation-progress.ts";
export type { JobMode, PartCounts, PartWord } from "../core/job/job.ts";
export type { JobResult, PartResult } from "../core/job/job-result.ts";
export type { JobStatus, PartStatus } from "../core/job/job-status.ts";
export type { PendingApproval } from "../core/machine/approvals.ts";
export type { ChildrenSummary } from "../core/machine/children-summary.ts";
export type { QuestionRef } from "../core/machine/state/digest.ts";
export type { ChildRow, OutcomeCode } from "../core/machine/state/ended-children.ts";
export type { RejectedMessages } from "../core/machine/state/inbound-message.ts";
export type { RunTotals } from "../core/machine/state/run-totals.ts";
export type { NextRound, TaskReport } from "../core/machine/state/task.ts";
export type { RunningCall, RunStatus } from "../core/machine/status.ts";
export type { StatusCode } from "../core/machine/status-code.ts";
export type {
  ChangedCase,
  ConfigurationReport,
  ScoreComparison,
  ScoreSummary,
  SuiteReport,
} from "../evaluation/report/index.ts";
export type { PassRate } from "../evaluation/report/pass-rates.ts";
export type { RunComparison } from "../evaluation/report/run-comparison.ts";
export type { ScoreInterval } from "../evaluation/report/score-interval.ts";
export type { CellTotals } from "../evaluation/report/suite-report.ts";
export type { TestMethod } from "../evaluation/report/test-differences.ts";
export type { Interval } from "../evaluation/statistics/interval.ts";
export type { EncryptionOptions } from "../platform/encryption/resolve-encryption.ts";
export type { AgentEvent, ConfigSnapshot } from "../schema/agent-event.ts";
export type { AgentDefinition, AgentDefinitionInput, QueueMode } from "../schema/definition.ts";
export type { DefinitionChange } from "../schema/definition-change.ts";
export type { EvaluationLimits, EvaluationPlan, PlainStrategy } from "../schema/evaluation.ts";
export type { Limits } from "../schema/limits.ts";
export type { LoopEvent } from "../schema/loop-event.ts";
export type {
  AgentMessage,
  AssistantMessage,
  Content,
  Message,
  MessageMetadata,
  StopReason,
  ToolResultMessage,
  TurnId,
  Usage,
  UserMessage,
} from "../schema/message.ts";
export { getMessageText } from "../schema/message-text.ts";
export type { JobLimits, WorkMode, WorkModeInput } from "../schema/mode.ts";
export type { CostRates, ModelConfig, OpenAiCompat } from "../schema/model.ts";
export type { OutputFormat, OutputRecovery } from "../schema/output.ts";
export type {
  ContinuationKind,
  Entry,
  LoopStatus,
  Outcome,
  SessionOrigin,
  TurnTrigger,
} from "../schema/record.ts";
export type {
  CompactionBlock,
  ParallelGroupRecord,
  RecordedLoop,
  RecordedSession,
  RecordedTurn,
} from "../schema/recorded-session.ts";
export type { RetentionPolicy, RetentionRule } from "../schema/retention.ts";
export type { SandboxMode } from "../schema/sandbox.ts";
export type { Score, ScoreClass } from "../schema/score.ts";
export type { Scorer } from "../schema/scorer.ts";
export type { SearchAttributeName } from "../schema/search-attributes.ts";
export type {
  CaseFork,
  CellKind,
  SuiteCase,
  SuiteConfiguration,
  SuiteControl,
  SuitePlan,
  SuiteStatus,
  SuiteStopCode,
} from "../schema/suite.ts";
export type { SuiteScorer, SuiteScorerInput } from "../schema/suite-scorer.ts";
export type { ToolDefinition } from "../schema/tool.ts";
export type { UserQuestion, UserValues } from "../schema/user-question.ts";
export type { EditResult } from "../store/transcript/archive.ts";
export type { ParallelGroup } from "../store/transcript/evaluation.ts";
export type { OpenFile } from "../store/transcript/export/import-file.ts";
export type { BranchPosition } from "../store/transcript/fork.ts";
export type { LoopRecord } from "../store/transcript/loop.ts";
export type {
  AnswerTotals,
  CellCounts,
  CellResult,
  CellRow,
  CellState,
  PlannedCell,
  SuiteRunRecord,
} from "../store/transcript/suites.ts";
export type {
  EvaluationRequest,
  EvaluationResult,
  ExplorationResult,
} from "../workflows/evaluation-input.ts";
export type { ApprovalResult, MessageInput } from "../workflows/messages.ts";
export type { RetentionResult } from "../workflows/retention.ts";
export type { RunSettings } from "../workflows/run-input.ts";
export type { RunResult } from "../workflows/run-result.ts";
export type { Health, HealthOptions } from "./connection/check-health.ts";
export { type ConnectOptions, connect } from "./connection/connect.ts";
export { Holdfast } from "./holdfast.ts";
export { HoldfastError, type HoldfastErrorCode, type HoldfastErrorFacts } from "./holdfast-error.ts";
export type { Evaluations, ListSuiteRunsOptions, PruneAnswersOptions } from "./holdfast-evaluations.ts";
export type { Jobs } from "./holdfast-jobs.ts";
export type { CreateSessionOptions, ResumeOptions, Sessions } from "./holdfast-sessions.ts";
export {
  buildUserMessage,
  getTurnId,
  isContextOverflow,
  setTurnId,
  toModelMessage,
} from "./interop/agent-message.ts";
export { messagesFromJson, messagesToJson } from "./interop/saved-messages.ts";
export { sessionFromJson, sessionToJson } from "./interop/saved-session.ts";
export { type RecorderConfig, SessionRecorder } from "./interop/session-recorder.ts";
export { FileSessionStore, type SessionStore } from "./interop/session-store.ts";
export type { FilePart, ImagePart, PartSource, Prompt, PromptPart, TextPart } from "./prompts/prompt-part.ts";
export type { PositionOptions } from "./read/branch-position.ts";
export type { BranchInTree, BranchOrigin, BranchTree } from "./read/branch-tree.ts";
export type { DefinitionSummary } from "./read/definition-summary.ts";
export type { FollowStart } from "./read/follow-stream.ts";
export type { JobSummary, ListJobsOptions } from "./read/list-jobs.ts";
export type { ListOptions, SessionSummary, SessionsPage } from "./read/list-sessions.ts";
export type { MessagesOptions } from "./read/read-messages.ts";
export type { SessionRecordWithTotals, StoredLoop } from "./read/read-session-record.ts";
export type { RequestOptions, TurnRequest } from "./read/read-turn-request.ts";
export type { SearchHit, SearchOptions } from "./read/search-messages.ts";
export type { EventsOptions, SessionEvent } from "./read/session-events.ts";
export type { FindOptions } from "./read/session-filter.ts";
export type { StreamEvent, StreamedCall, StreamedToolOutput } from "./read/stream-event.ts";
export type { AcceptResult } from "./runs/accept-definition.ts";
export type { AnswerOptions } from "./runs/answer-call.ts";
export type { AnswerResult, ApproveOptions, DenyOptions } from "./runs/approve-call.ts";
export type { CompactOptions, CompactResult } from "./runs/compact-session.ts";
export type { ContinueOptions, RerunOptions } from "./runs/continue-session.ts";
export { type EvaluateOptions, Evaluation, type EvaluationOutcome } from "./runs/evaluate.ts";
export {
  createCustomStrategy,
  createJudgeStrategy,
  type EvaluationStrategy,
  elaborate,
  type JudgeStrategy,
  pickFirst,
  tokenEfficient,
  transparent,
} from "./runs/evaluation-strategies.ts";
export { Exploration, type ExploredBranch, type ExploreOptions } from "./runs/explore-session.ts";
export { type ExtractedJson, extractJson } from "./runs/extract-json.ts";
export { hashDefinition } from "./runs/hash-definition.ts";
export { Job, type JobState } from "./runs/job.ts";
export type { WaitingCall } from "./runs/list-waiting-calls.ts";
export type { MessageOptions } from "./runs/message-input.ts";
export {
  anthropic,
  azure,
  bedrock,
  google,
  listModels,
  local,
  openai,
  openaiResponses,
  openrouter,
  parseModel,
  vertex,
} from "./runs/models.ts";
export type { PendingActivity } from "./runs/pending-activity.ts";
export type { PromptOptions, PromptResult } from "./runs/prompt-session.ts";
export type { SendOptions, SendResult } from "./runs/queue-message.ts";
export type { ResultOptions, SessionResult } from "./runs/read-output.ts";
export {
  type CreateScheduleOptions,
  OVERLAP_POLICIES,
  type Overlap,
  type ScheduleInfo,
  Schedules,
} from "./runs/schedules.ts";
export type { DeliveryKind, SendMessageOptions, SendMessageResult } from "./runs/send-message.ts";
export type { RetryingBelow, SessionStatus } from "./runs/session-status.ts";
export type { ResumePipelineOptions, StartJobOptions } from "./runs/start-job.ts";
export type { RunMode, StartOptions, StartResult } from "./runs/start-run.ts";
export type { UpdateOptions, UpdateResult } from "./runs/update-session.ts";
export { zodOutput } from "./runs/zod-output.ts";
export { Session } from "./session.ts";
export type { SessionApprovals } from "./session-approvals.ts";
export type { SessionBranches } from "./session-branches.ts";
export type { SessionCheckpoints } from "./session-checkpoints.ts";
export type { SessionMessages } from "./session-messages.ts";
export type { SessionQueues } from "./session-queues.ts";
export type { BranchOptions, BranchResult } from "./sessions/branch-session.ts";
export { type AgentSnapshot, loadSnapshot, saveSnapshot } from "./sessions/checkpoint.ts";
export type { DeleteOptions, DeleteResult } from "./sessions/delete-session.ts";
export type { ExportOptions, ImportOptions, ImportResult } from "./sessions/export-session.ts";
export type { ForkedBranch, ForkOptions } from "./sessions/fork-session.ts";
export { type RekeyOptions, type RekeyResult, rekeyTranscript } from "./sessions/rekey.ts";
export type { RestoreSessionOptions } from "./sessions/restore-session.ts";
export type { RestoreWorkspaceOptions } from "./sessions/restore-workspace.ts";
export { Retention, type RetentionState, type SetRetentionOptions } from "./sessions/retention.ts";
export type { RewindResult } from "./sessions/rewind-session.ts";
export type { PlanProgress } from "./suites/plan-cells.ts";
export type { RunSuiteOptions } from "./suites/start-suite.ts";
export { type ReadCellsOptions, type SuiteCell, SuiteRun, type SuiteRunStatus } from "./suites/suite-run.ts";
