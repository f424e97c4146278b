import type { Decision } from "../../core/evaluation/decision.ts";
import type { Usage } from "../../schema/message.ts";
import type { LoopStatus } from "../../schema/record.ts";
import type { BranchPositionInput } from "./fork.ts";
import type { Step } from "./step.ts";

// Several loops of one session side by side, of which one is chosen: what is kept of them as a group.

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
  /** Where all branches begin; the session's head when absent. */
  readonly at?: BranchPositionInput | undefined;
  readonly agentId?: string | undefined;
  /** At least one, in the order of the configurations. */
  readonly branches: readonly PlannedLoop[];
  readonly judge?: PlannedLoop | undefined;
};

/** A loop that has its number, and may be opened under it. */
export type ReservedLoop = { readonly loopId: string; readonly number: number };

export type OpenedEvaluation = {
  /** The run that has opened it. */
  readonly evaluation: string;
  /** Where the session's head was: all branches begin there. */
  readonly at: { readonly branch: string; readonly position: number };
  /** The session's last loop then. */
  readonly parentLoopId?: string | undefined;
  readonly branches: readonly ReservedLoop[];
  readonly judge?: ReservedLoop | undefined;
};

export type EvaluationClosing = {
  readonly step: Step;
  readonly evaluation: string;
  readonly atMs: number;
  readonly decision: Decision;
  /** Of the branches, as they were opened: a run that was reset has opened another than the reserved one. */
  readonly loopIds: readonly string[];
  /** The chosen branch's; absent where it has no loop: the session's head stays. */
  readonly selectedLoopId?: string | undefined;
  readonly evaluationUsage: Usage;
  readonly status: LoopStatus;
  /** Small JSON, given back whenever the step is asked for again. */
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
  /** What the judge is shown was too large for it (PAR-12). */
  readonly warning?: string | undefined;
  readonly endedAtMs?: number | undefined;
  readonly closed?: ClosedEvaluation | undefined;
};

export type ClosedEvaluation = Pick<
  EvaluationClosing,
  "decision" | "loopIds" | "selectedLoopId" | "evaluationUsage"
>;

/** The group as each of its branches has it, when it is over (SES-12). */
export type ParallelGroup = {
  readonly allLoopIds: readonly string[];
  readonly selectedLoopId?: string | undefined;
  readonly selectedConfigIndex: number;
  readonly evaluationUsage: Usage;
  /** Of exactly one branch. */
  readonly isSelected: boolean;
};
