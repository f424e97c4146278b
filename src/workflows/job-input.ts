import type { JobLimits } from "../schema/mode.ts";
import type { RunSettings } from "./input.ts";
import type { Words } from "./messages.ts";

// What jobs are started with: names and hashes. Definitions lie in the transcript, and so do long words.

type Common = {
  readonly task: Words;
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

export type PipelineRequest = Common & {
  readonly stages: readonly StageRequest[];
  /**
   * Stages that an earlier start of the job has had done are not done again. It goes on at the first that has no answer,
   * or at the one that is named.
   */
  readonly resume?: { readonly from?: string };
};

export type FanOutRequest = Omit<Common, "task"> & {
  /** What the job was asked, for who looks at it. */
  readonly task?: Words;
  readonly parts: readonly (NamedAgent & { readonly task: Words })[];
  readonly concurrency?: number;
  readonly reducer?: string;
};

export type AutonomousRequest = Common &
  NamedAgent & {
    readonly maxIdleRounds?: number;
    readonly maxRounds?: number | null;
  };

/** What a supervisor is started with. */
export type SupervisorRequest = Common & {
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
