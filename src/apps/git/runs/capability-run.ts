import type { AgentDefinitionInput, Outcome } from "../../../client/index.ts";
import type { Task } from "../agents/task-prompt.ts";
import type { Artifact } from "../artifacts/read-artifact.ts";
import type { Capability } from "../capabilities/capability.ts";
import type { ChangeSource } from "../changes/change-set.ts";
import type { PinnedChange } from "../changes/pin-change.ts";
import type { EvidenceReport } from "../evidence/check-artifact.ts";
import type { OpenOptions } from "../repository/repository.ts";
import type { CoverageReport } from "./account-for-change.ts";
import type { Watcher } from "./ask-agent.ts";
import type { Verdict } from "./judge-artifact.ts";
import type { RunTotals } from "./read-totals.ts";
import type { RunPlan } from "./run-plan.ts";

/** What is in progress, for a display. */
export type Phase = "analysing" | "head-moved" | "checking-evidence" | "judging" | "revising" | "done";

export type CapabilityRun = {
  /** The id of the session, new or of a run that is resumed. */
  readonly session: string;
  readonly title: string;
  readonly capability: Capability;
  readonly plan: RunPlan;
  readonly task: Omit<Task, "change">;
  readonly agent: AgentDefinitionInput;
  /** Absent: nobody judges the artifact. */
  readonly critic?: AgentDefinitionInput | undefined;
  readonly repository: { readonly folder: string; readonly options: OpenOptions };
};

export type RunWatcher = Watcher & {
  readonly onPhase?: ((phase: Phase) => void) | undefined;
  /** Whether the user has asked to stop: no further step begins. */
  readonly isStopping?: (() => boolean) | undefined;
  /** Finds what an earlier process has made of the artifact: the change is no longer as it was. */
  readonly findPublished?: (() => Promise<Published | undefined>) | undefined;
};

/** A commit that was made from the artifact. */
export type Published = {
  /** What was staged for it, as the commit has it. */
  readonly staged: ChangeSource;
};

export type CapabilityResult =
  | ({
      readonly type: "made";
      readonly session: string;
      readonly artifact: Artifact;
      readonly change?: PinnedChange;
      /** Absent without a change. */
      readonly coverage?: CoverageReport;
      readonly evidence?: EvidenceReport;
      readonly verdict?: Verdict;
      readonly isRevised: boolean;
      /** The agent has not answered in the required form: the artifact is its text, which nothing should be written from. */
      readonly isUnstructured: boolean;
      readonly repairs?: readonly string[];
    } & RunTotals)
  /** There is no artifact. The session can be resumed. */
  | {
      readonly type: "unfinished";
      readonly session: string;
      readonly outcome: Outcome | { readonly type: "moving"; readonly reason: string };
    };

export type Unfinished = Extract<CapabilityResult, { type: "unfinished" }>;
