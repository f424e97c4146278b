import type { ClientLink } from "./connection/client-link.ts";
import type { JobSummary, ListJobsOptions } from "./read/list-jobs.ts";
import { resolveSessionId } from "./resolve-session-id.ts";
import { Job } from "./runs/job.ts";
import type { ResumePipelineOptions, StartJobOptions } from "./runs/start-job.ts";

/** Agents that work together on a task: `holdfast.jobs`. */
export class Jobs {
  readonly #link: ClientLink;

  constructor(link: ClientLink) {
    this.#link = link;
  }

  /** Starts a pipeline, a fan-out, an autonomous agent, a supervisor, or an interactive agent. */
  async start(options: StartJobOptions): Promise<Job> {
    const { checkOptions, JobOptions } = await import("./runs/options.ts");
    const { startJob } = await import("./runs/start-job.ts");
    checkOptions(JobOptions, options, "jobs.start()");
    const { job, runId } = await startJob(this.#link, options);
    return new Job(this.#link, job, runId);
  }

  /** Lists the jobs that the server has, the one that was started last first. */
  async list(options?: ListJobsOptions): Promise<readonly JobSummary[]> {
    const { listJobs } = await import("./read/list-jobs.ts");
    return listJobs(this.#link, options);
  }

  /** Returns the id that a user's input means: an id, the beginning of one if it is unique, or `last`. */
  async find(reference: string): Promise<string> {
    const { findId } = await import("./read/find-session-id.ts");
    return findId(this.#link, reference, "job");
  }

  /** Returns a handle without checking that the job exists. */
  get(id: string): Job {
    return new Job(this.#link, resolveSessionId(id));
  }

  /** Resumes a pipeline that has ended early, by default at the first stage without an answer. */
  async resume(job: string, options?: ResumePipelineOptions): Promise<Job> {
    const { resumePipeline } = await import("./runs/resume-pipeline.ts");
    const { runId } = await resumePipeline(this.#link, resolveSessionId(job), options);
    return new Job(this.#link, job, runId);
  }
}
