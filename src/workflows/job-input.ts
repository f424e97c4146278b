import type { JobLimits } from "../schema/mode.ts";
import type { MessageInput } from "./messages.ts";
import type { RunSettings } from "./run-input.ts";

// What jobs are started with: names and hashes. Definitions lie in the transcript, and so do long words.

type JobRequest = {
  readonly task: MessageInput;
  /** All are null unless said: without limit. */
  readonly limits?: Partial<JobLimits>;
  readonly settings?: Partial<RunSettings>;
};

/** An agent by the hash that its definition is stored under. */
export type NamedAgent = { readonly agent: string; readonly definitionHash: string };

export type StageRequest = NamedAgent & {
  readonly name: string;
  readonly prompt?: string;
  readonly input?: Readonly<Record<string, unknown>>;
};

export type PipelineRequest = JobRequest & {
  readonly stages: readonly StageRequest[];
  /**
   * Stages that an earlier start of the job has had done are not done again. It goes on at the first that has no answer,
   * or at the one that is named.
   */
  readonly resume?: { readonly from?: string };
};

export type FanOutRequest = Omit<JobRequest, "task"> & {
  /** What the job was asked, for who looks at it. */
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

/** What a supervisor is started with. */
export type SupervisorRequest = JobRequest & {
  /** The hash of the lead's definition. */
  readonly lead: string;
  readonly agents: readonly {
    readonly name: string;
    readonly description: string;
    readonly definitionHash: string;
  }[];
  /** Tasks that may be handed out; 100 unless said, at most 1,000. */
  readonly maxAgents?: number;
};
