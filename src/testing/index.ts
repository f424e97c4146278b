/**
 * Tests agents without a vendor: a scripted model server, worker processes that you can kill, and replays of histories.
 *
 * @module testing
 */

export type { DevServer } from "../devserver/dev-server.ts";
export type { AgentDefinitionInput } from "../schema/definition.ts";
export { type EventuallyOptions, eventually } from "./eventually.ts";
export type { Fault, FaultName, FaultRule } from "./model-server/fault.ts";
export type { PaidTurn, RecordedRequest, RequestOutcome } from "./model-server/ledger.ts";
export type { CachedTokens } from "./model-server/prompt-cache.ts";
export type { Reply, ReplyToolCall, ReplyUsage } from "./model-server/reply.ts";
export type { Respond } from "./model-server/reply-selector.ts";
export type { ModelServerRequest, WireProtocol } from "./model-server/request.ts";
export type { Answer, Matcher, ModelScript, ScriptedConversation } from "./model-server/script.ts";
export { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/server.ts";
export {
  type RecordedHistory,
  ReplayMismatchError,
  type ReplayOptions,
  replayHistories,
} from "./replay.ts";
export {
  type SupervisedWorker,
  type SupervisedWorkerOptions,
  superviseWorker,
} from "./supervised-worker.ts";
export { createTestAgent, type ServerAddresses, TEST_KEY_NAME, type TestAgentOptions } from "./test-agent.ts";
export { startTestServer } from "./test-server.ts";
export {
  startWorkerProcess,
  type WorkerExit,
  type WorkerProcess,
  type WorkerProcessOptions,
} from "./worker-process.ts";
