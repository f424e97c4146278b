import type { Decision } from "../../core/evaluation/decision.ts";
import type { Usage } from "../../schema/message.ts";
import type { LoopStatus } from "../../schema/record.ts";
import type { BranchPositionInput } from "./fork.ts";
import type { Step } from "./step.ts";

// The record of an evaluation: several concurrent loops of one session, of which one is chosen.

/** A loop of an evaluation before it is opened. */
export type PlannedLoop = {
  readonly segment: string;
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
};

export type EvaluationOpening = {
  readonly step: Step;
  readonly atMs: number;
  readonly strategy: string;
  /** The position where all branches begin; by default the session's head. */
  readonly at?: BranchPositionInput | undefined;
  readonly agentId?: string | undefined;
  /** At least one, in the order of the configurations. */
  readonly branches: readonly PlannedLoop[];
  readonly judge?: PlannedLoop | undefined;
  /** The title of a session that has none. */
  readonly title?: string | undefined;
};

/** A loop with a reserved number, under which it can be opened. */
export type ReservedLoop = { readonly loopId: string; readonly number: number };

export type OpenedEvaluation = {
  /** The run that opened the evaluation. */
  readonly evaluation: string;
  /** The position of the session's head, where all branches begin. */
  readonly at: { readonly branch: string; readonly position: number };
  /** The session's last loop at that time. */
  readonly parentLoopId?: string | undefined;
  readonly branches: readonly ReservedLoop[];
  readonly judge?: ReservedLoop | undefined;
};

export type EvaluationClosing = {
  readonly step: Step;
  readonly evaluation: string;
  readonly atMs: number;
  readonly decision: Decision;
  /** The loops of the branches as opened: a run that was reset opens a loop other than the reserved one. */
  readonly loopIds: readonly string[];
  /** The loop of the chosen branch. If absent, the branch has no loop, and the session's head is unchanged. */
  readonly selectedLoopId?: string | undefined;
  readonly evaluationUsage: Usage;
  readonly status: LoopStatus;
  /** Small JSON, returned by every repeated request of the step. */
  readonly result: unknown;
};

export type EvaluationRecord = {
  readonly id: string;
  readonly session: string;
  readonly strategy: string;
  readonly startedAtMs: number;
  readonly at: OpenedEvaluation["at"];
  /** In the order of the configurations. */
  readonly branches: readonly (Omit<PlannedLoop, "segment"> & { readonly loopId: string })[];
  readonly judgeLoopId?: string | undefined;
  /** The warning that the judge's input was too large (PAR-12). */
  readonly warning?: string | undefined;
  readonly endedAtMs?: number | undefined;
  readonly closed?: ClosedEvaluation | undefined;
};

export type ClosedEvaluation = Pick<
  EvaluationClosing,
  "decision" | "loopIds" | "selectedLoopId" | "evaluationUsage"
>;

/** The group of a closed evaluation, as recorded for each of its branches (SES-12). */
export type ParallelGroup = {
  /** The loops of all branches, in the order of their configurations. */
  readonly allLoopIds: readonly string[];
  /** The loop of the chosen branch; absent if none was chosen. */
  readonly selectedLoopId?: string | undefined;
  /** The index of the chosen configuration, from 0. */
  readonly selectedConfigIndex: number;
  /** The tokens of the choice alone. */
  readonly evaluationUsage: Usage;
  /** True for exactly one branch. */
  readonly isSelected: boolean;
};
