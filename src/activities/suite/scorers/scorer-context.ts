import type { Mask } from "../../../models/secret-masks.ts";
import type { AgentMessage } from "../../../schema/message.ts";
import type { SandboxSettings } from "../../../schema/sandbox.ts";
import type { ScoreSubject } from "../../../schema/score-subject.ts";
import type { SuiteCase } from "../../../schema/suite.ts";
import type { Dependencies } from "../../dependencies.ts";
import type { AskJudge } from "../judge-answers.ts";

/** The explanation of a score for which the workspace of a cell is needed that cannot be found. */
export const WORKSPACE_IS_MISSING =
  "The workspace of the cell is not on this host, or was deleted after the cell was scored: a scorer that is added later needs a suite that keeps workspaces.";

/** A cell that is to be scored. */
export type ScoredCell = {
  readonly subject: ScoreSubject;
  readonly value: Pick<SuiteCase, "messages">;
  /** All messages of the cell. */
  readonly messages: readonly AgentMessage[];
  /** The folder in which the cell has worked; absent for a cell without one. Absolute. */
  readonly workspace?: string | undefined;
  /** The cell had a workspace, which is not on this host, or was deleted after the cell was scored. */
  readonly isWorkspaceMissing?: boolean;
  /** Where a command makes the workspace of a cell that has none; the system's folder for temporary files by default. */
  readonly workspaces?: string | undefined;
  /** The sandbox settings of the cell's definition; those of the worker by default. */
  readonly sandbox?: SandboxSettings | undefined;
};

/** What scorers use of the worker, and the judges. */
export type ScorerDependencies = Pick<Dependencies, "scorers" | "definitions" | "sandboxes" | "secrets"> & {
  /** Asks a judge, whose answer may come from the store. Its system prompt is that of the definition, then the instructions. */
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
