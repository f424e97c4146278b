import type { JudgeRequest } from "../../../evaluation/scorers/judge-request.ts";
import type { Mask } from "../../../models/secret-masks.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { AgentMessage } from "../../../schema/message.ts";
import type { SandboxSettings } from "../../../schema/sandbox.ts";
import type { ScoreSubject } from "../../../schema/score-subject.ts";
import type { SuiteCase } from "../../../schema/suite.ts";
import type { Dependencies } from "../../dependencies.ts";

/** A cell that is to be scored. */
export type ScoredCell = {
  readonly subject: ScoreSubject;
  readonly case: Pick<SuiteCase, "messages">;
  readonly repetition: number;
  /** All messages of the cell. */
  readonly messages: readonly AgentMessage[];
  /** The folder in which the cell has worked; absent for a cell without one. Absolute. */
  readonly workspace?: string | undefined;
  /** Where a command makes the workspace of a cell that has none; the system's folder for temporary files by default. */
  readonly workspaces?: string | undefined;
  /** The sandbox settings of the cell's definition; those of the worker by default. */
  readonly sandbox?: SandboxSettings | undefined;
};

/** Asks a judge. The caller may answer from the store: the same request and repetition have the same answer. */
export type AskJudge = (
  definition: AgentDefinition,
  request: JudgeRequest,
  repetition: number,
) => Promise<{
  readonly text: string;
  /** `null` if the price is unknown. */
  readonly costUsd: number | null;
}>;

/** What scorers use of the worker, and the judges. */
export type ScorerDependencies = Pick<Dependencies, "scorers" | "definitions" | "sandboxes" | "secrets"> & {
  readonly ask: AskJudge;
};

/** What one scorer works with. A scorer needs nothing else, so one that runs agents gets what it needs here. */
export type ScorerContext = {
  readonly cell: ScoredCell;
  readonly dependencies: ScorerDependencies;
  /** Hides the worker's secrets in what a scorer reports. */
  readonly mask: Mask;
  readonly signal: AbortSignal;
};
