import type { ZodType, z } from "zod";
import type { AgentDefinitionInput, QueueMode } from "../schema/definition.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { RecordedSession } from "../schema/recorded-session.ts";
import type { OpenFile } from "../store/transcript/export/import-file.ts";
import { checkHealth, type Health, type HealthOptions } from "./connection/check-health.ts";
import type { ClientLink } from "./connection/client-link.ts";
import {
  findSessions,
  type SearchHit,
  type SearchOptions,
  type SessionsOptions,
  type SessionsPage,
  searchMessages,
} from "./read/find-sessions.ts";
import { type ListOptions, listSessions, type SessionSummary } from "./read/list-sessions.ts";
import type { LoopHistory, MessagesOptions } from "./read/read-session.ts";
import type { RequestOptions, TurnRequest } from "./read/read-turn-request.ts";
import type { EventsOptions, SessionEvent } from "./read/session-events.ts";
import { resolveSessionId } from "./resolve-session-id.ts";
import { type AcceptResult, acceptDefinition } from "./runs/accept-definition.ts";
import type { AnswerOptions } from "./runs/answer-call.ts";
import type { AnswerResult, ApproveOptions, DenyOptions } from "./runs/approve-call.ts";
import type { CompactResult } from "./runs/compact-session.ts";
import { type EvaluateOptions, type Evaluation, startEvaluation } from "./runs/evaluate.ts";
import { Job } from "./runs/job.ts";
import type { WaitingCall } from "./runs/list-waiting-calls.ts";
import { checkOptions, EvaluationOptions, JobOptions, RunOptions } from "./runs/options.ts";
import type { PromptOptions, PromptResult } from "./runs/prompt-session.ts";
import type { SendOptions, SendResult } from "./runs/queue-message.ts";
import type { SessionResult } from "./runs/read-output.ts";
import { resumePipeline } from "./runs/resume-pipeline.ts";
import { Schedules } from "./runs/schedules.ts";
import type { SendMessageOptions, SendMessageResult } from "./runs/send-message.ts";
import type { SessionStatus } from "./runs/session-status.ts";
import { type ResumePipelineOptions, type StartJobOptions, startJob } from "./runs/start-job.ts";
import { type StartOptions, startRun } from "./runs/start-run.ts";
import type { UpdateOptions, UpdateResult } from "./runs/update-session.ts";
import { zodOutput } from "./runs/zod-output.ts";
import { Session } from "./session.ts";
import { type AgentSnapshot, resumeSnapshot } from "./sessions/checkpoint.ts";
import { preloadSession } from "./sessions/edit-session.ts";
import { type ImportOptions, type ImportResult, importSessions } from "./sessions/export-session.ts";
import { type RestoreSessionOptions, restoreSession } from "./sessions/restore-session.ts";
import { Retention } from "./sessions/retention.ts";

export type PreloadOptions = {
  readonly agent: AgentDefinitionInput;
  readonly messages: readonly AgentMessage[];
  readonly session?: string;
};

/** An open connection to a Temporal server and a transcript. Created by `connect`. */
export class Holdfast {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly #link: ClientLink;

  constructor(link: ClientLink) {
    this.#link = link;
    this.address = link.address;
    this.namespace = link.namespace;
    this.taskQueue = link.taskQueue;
  }

  /** Starts a run in a new session, or the next run of an idle one. */
  start(options: StartOptions): Promise<Session>;
  /** @param options.output - The schema of the last answer. Replaces `agent.output` and types the result's output. */
  start<Schema extends ZodType>(
    options: StartOptions & { readonly output: Schema },
  ): Promise<Session<z.output<Schema>>>;
  async start(given: StartOptions & { readonly output?: ZodType }): Promise<Session> {
    checkOptions(RunOptions, given, "start()");
    const { output, ...options } = given;
    const agent = output === undefined ? options.agent : { ...options.agent, output: zodOutput(output) };
    const { session, runId } = await startRun(this.#link, { ...options, agent });
    return new Session(this.#link, session, runId, output);
  }

  /** Runs several agents side by side on the conversation of a session, and continues with one of them. */
  async evaluate(options: EvaluateOptions): Promise<Evaluation> {
    checkOptions(EvaluationOptions, options, "evaluate()");
    return await startEvaluation(this.#link, options);
  }

  /** Returns a handle without checking that the session exists. @param options.output - The schema of its results. */
  session<Output = unknown>(
    id: string,
    options: { readonly output?: ZodType<Output>; readonly runId?: string } = {},
  ): Session<Output> {
    return new Session(this.#link, resolveSessionId(id), options.runId, options.output);
  }

  prompt(session: string, text: string, options?: PromptOptions): Promise<PromptResult> {
    return this.session(session).prompt(text, options);
  }

  send(session: string, text: string, options?: SendMessageOptions): Promise<SendMessageResult> {
    return this.session(session).send(text, options);
  }

  steer(session: string, text: string, options?: SendOptions): Promise<SendResult> {
    return this.session(session).steer(text, options);
  }

  followUp(session: string, text: string, options?: SendOptions): Promise<SendResult> {
    return this.session(session).followUp(text, options);
  }

  stop(session: string, reason?: string): Promise<boolean> {
    return this.session(session).stop(reason);
  }

  approvals(session: string): Promise<readonly WaitingCall[]> {
    return this.session(session).approvals();
  }

  approve(session: string, toolCallId?: string, options?: ApproveOptions): Promise<AnswerResult> {
    return this.session(session).approve(toolCallId, options);
  }

  deny(session: string, toolCallId?: string, options?: DenyOptions): Promise<AnswerResult> {
    return this.session(session).deny(toolCallId, options);
  }

  answer(session: string, toolCallId?: string, options?: AnswerOptions): Promise<AnswerResult> {
    return this.session(session).answer(toolCallId, options);
  }

  compact(session: string, options?: { readonly focus?: string }): Promise<CompactResult> {
    return this.session(session).compact(options);
  }

  update(session: string, definition: AgentDefinitionInput, options?: UpdateOptions): Promise<UpdateResult> {
    return this.session(session).update(definition, options);
  }

  status(session: string): Promise<SessionStatus> {
    return this.session(session).status();
  }

  result(session: string, options?: { readonly signal?: AbortSignal }): Promise<SessionResult> {
    return this.session(session).result(options);
  }

  list(options?: ListOptions): Promise<readonly SessionSummary[]> {
    return listSessions(this.#link, options);
  }

  messages(session: string, options?: MessagesOptions): Promise<readonly Entry[]> {
    return this.session(session).messages(options);
  }

  loops(session: string): Promise<readonly LoopHistory[]> {
    return this.session(session).loops();
  }

  events(session: string, options?: EventsOptions): AsyncIterable<SessionEvent> {
    return this.session(session).events(options);
  }

  request(session: string, options?: RequestOptions): Promise<TurnRequest> {
    return this.session(session).request(options);
  }

  setQueueMode(session: string, queue: "steering" | "follow-up", mode: QueueMode): Promise<void> {
    return this.session(session).setQueueMode(queue, mode);
  }

  clearQueues(session: string, queue?: "steering" | "follow-up" | "all"): Promise<void> {
    return this.session(session).clearQueues(queue);
  }

  /** Starts agents that work together: a pipeline, a fan-out, an autonomous agent, a supervisor, or an interactive agent. */
  async startJob(options: StartJobOptions): Promise<Job> {
    checkOptions(JobOptions, options, "startJob()");
    const { job, runId } = await startJob(this.#link, options);
    return new Job(this.#link, job, runId);
  }

  /** Returns a handle without checking that the job exists. */
  job(id: string): Job {
    return new Job(this.#link, resolveSessionId(id));
  }

  /** Resumes a pipeline that has ended early, by default at the first stage without an answer. */
  async resumePipeline(job: string, options?: ResumePipelineOptions): Promise<Job> {
    const { runId } = await resumePipeline(this.#link, resolveSessionId(job), options);
    return new Job(this.#link, job, runId);
  }

  /** Starts agents on a schedule. */
  get schedules(): Schedules {
    return new Schedules(this.#link);
  }

  /** Finds sessions in the transcript by their properties, in pages; `list` also asks the server. */
  sessions(options?: SessionsOptions): Promise<SessionsPage> {
    return findSessions(this.#link, options);
  }

  /** Finds messages that contain all words of the query. */
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]> {
    return searchMessages(this.#link, query, options);
  }

  /** Imports what `session.export()` wrote: all of it, or nothing. @param file - A path, or a function that opens it. */
  import(file: string | OpenFile, options?: ImportOptions): Promise<ImportResult> {
    return importSessions(this.#link, file, options);
  }

  /** Accepts the agent that an imported session arrived with: runs may be started with it from then on. */
  acceptDefinition(session: string): Promise<AcceptResult> {
    return acceptDefinition(this.#link, resolveSessionId(session));
  }

  /** Imports a session from the sources' saved format. */
  restoreSession(saved: RecordedSession, options: RestoreSessionOptions): Promise<ImportResult> {
    return restoreSession(this.#link, saved, options);
  }

  /** Creates a session that begins with the given messages. */
  async withMessages(options: PreloadOptions): Promise<Session> {
    const id = resolveSessionId(options.session);
    await preloadSession(this.#link, id, options.agent, options.messages);
    return new Session(this.#link, id);
  }

  /** Creates a session that continues from a checkpoint of another one, on this machine or elsewhere. */
  async resume(
    snapshot: AgentSnapshot,
    options: { readonly agent: AgentDefinitionInput; readonly session?: string },
  ): Promise<Session> {
    return new Session(this.#link, await resumeSnapshot(this.#link, snapshot, options));
  }

  /** Sets how long sessions are retained. */
  get retention(): Retention {
    return new Retention(this.#link);
  }

  /** Checks what an operator needs to know before anything is started. */
  health(options?: HealthOptions): Promise<Health> {
    return checkHealth(this.#link, options);
  }

  /** Closes this connection. Runs continue. */
  async close(): Promise<void> {
    await this.#link.storage.close();
    await this.#link.connection.close();
  }
}
