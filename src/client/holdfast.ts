import type { ZodType, z } from "zod";
import type { Health, HealthOptions } from "./connection/check-health.ts";
import type { ClientLink } from "./connection/client-link.ts";
import { Evaluations } from "./holdfast-evaluations.ts";
import { Jobs } from "./holdfast-jobs.ts";
import { Sessions } from "./holdfast-sessions.ts";
import { resolveSessionId } from "./resolve-session-id.ts";
import type { EvaluateOptions, Evaluation } from "./runs/evaluate.ts";
import { Schedules } from "./runs/schedules.ts";
import type { StartOptions } from "./runs/start-run.ts";
import { Session } from "./session.ts";
import { Retention } from "./sessions/retention.ts";

/**
 * An open connection to a Temporal server and a transcript. Created by `connect`. The code of an operation is loaded when it is
 * first called, so that a short command loads little.
 */
export class Holdfast {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Agents that work together on a task. */
  readonly jobs: Jobs;
  /** Runs of suites: many cases, configurations and repetitions. */
  readonly evaluations: Evaluations;
  /** How long sessions are retained. */
  readonly retention: Retention;
  /** Agents that start on a schedule. */
  readonly schedules: Schedules;
  /** All sessions: finds them, and creates them by other means than a run. */
  readonly sessions: Sessions;
  readonly #link: ClientLink;

  /** @internal */
  constructor(link: ClientLink) {
    this.#link = link;
    this.address = link.address;
    this.namespace = link.namespace;
    this.taskQueue = link.taskQueue;
    this.jobs = new Jobs(link);
    this.evaluations = new Evaluations(link);
    this.retention = new Retention(link);
    this.schedules = new Schedules(link);
    this.sessions = new Sessions(link);
  }

  /** Starts a run in a new session, or the next run of an idle one. */
  start(options: StartOptions): Promise<Session>;
  /**
   * Starts a run whose last answer matches a schema.
   *
   * @param options.output - The schema of the last answer. Replaces `agent.output` and types the result's output.
   */
  start<Schema extends ZodType>(
    options: StartOptions & { readonly output: Schema },
  ): Promise<Session<z.output<Schema>>>;
  async start(given: StartOptions & { readonly output?: ZodType }): Promise<Session> {
    const { checkOptions, RunOptions } = await import("./runs/options.ts");
    const { startRun } = await import("./runs/start-run.ts");
    const { zodOutput } = await import("./runs/zod-output.ts");
    checkOptions(RunOptions, given, "start()");
    const { output, ...options } = given;
    const agent = output === undefined ? options.agent : { ...options.agent, output: zodOutput(output) };
    const { session, runId } = await startRun(this.#link, { ...options, agent });
    return new Session(this.#link, session, runId, output);
  }

  /** Runs several agents side by side on the conversation of a session, and continues with one of them. */
  async evaluate(options: EvaluateOptions): Promise<Evaluation> {
    const { startEvaluation } = await import("./runs/evaluate.ts");
    const { checkOptions, EvaluationOptions } = await import("./runs/options.ts");
    checkOptions(EvaluationOptions, options, "evaluate()");
    return await startEvaluation(this.#link, options);
  }

  /** Returns a handle without checking that the session exists. @param options.output - The schema of its results. */
  session<Output = unknown>(
    id: string,
    options: {
      readonly output?: ZodType<Output>;
      /** The run to which `result` and `events` refer; the newest by default. */
      readonly runId?: string;
    } = {},
  ): Session<Output> {
    return new Session(this.#link, resolveSessionId(id), options.runId, options.output);
  }

  /** Checks what an operator needs to know before anything is started. */
  async health(options?: HealthOptions): Promise<Health> {
    const { checkHealth } = await import("./connection/check-health.ts");
    return checkHealth(this.#link, options);
  }

  /** Closes this connection, unless it belongs to a client that `connect` was given. Runs continue. */
  async close(): Promise<void> {
    await this.#link.storage.close();
    if (this.#link.keepsConnection !== true) await this.#link.connection.close();
  }
}
