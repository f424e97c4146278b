import type { JobLimits } from "../schema/mode.ts";
import type { MessageInput } from "./messages.ts";
import type { RunSettings } from "./run-input.ts";

// The inputs of jobs: names and hashes. The transcript stores the definitions and long texts.

type JobRequest = {
  readonly task: MessageInput;
  /** All limits are null, that is unlimited, by default. */
  readonly limits?: Partial<JobLimits>;
  readonly settings?: Partial<RunSettings>;
};

/** An agent, with the hash under which its definition is stored. */
export type NamedAgent = { readonly agent: string; readonly definitionHash: string };

export type StageRequest = NamedAgent & {
  readonly name: string;
  readonly prompt?: string;
  readonly input?: Readonly<Record<string, unknown>>;
};

export type PipelineRequest = JobRequest & {
  readonly stages: readonly StageRequest[];
  /**
   * Skips stages that an earlier start of the job has completed. The job resumes at the first stage without an answer,
   * or at the named stage.
   */
  readonly resume?: { readonly from?: string };
};

export type FanOutRequest = Omit<JobRequest, "task"> & {
  /** The task of the whole job, for display. */
  readonly task?: MessageInput;
  readonly parts: readonly (NamedAgent & { readonly task: MessageInput })[];
  readonly concurrency?: number;
  readonly reducer?: string;
};

export type AutonomousRequest = JobRequest &
  NamedAgent & {
    readonly maxIdleRounds?: number;
    readonly maxRounds?: number | null;
  };

/** The input of a supervisor. */
export type SupervisorRequest = JobRequest & {
  /** The hash of the lead's definition. */
  readonly lead: string;
  readonly agents: readonly {
    readonly name: string;
    readonly description: string;
    readonly definitionHash: string;
  }[];
  /** The number of tasks that the lead may delegate; 100 by default, at most 1,000. */
  readonly maxAgents?: number;
};
