import type { AgentDefinition } from "../../schema/definition.ts";
import type { SuiteCase } from "../../schema/suite.ts";
import type { SuiteScorer } from "../../schema/suite-scorer.ts";
import type { Problem } from "../problem.ts";
import type { AxisValue } from "./matrix-axes.ts";
import { readCases, SuiteCaseError, type UnreadCases } from "./read-cases.ts";

/** One configuration of a suite, with its checked definition. */
export type LoadedConfiguration = {
  /** Unique within the suite. */
  readonly name: string;
  /** The checked definition of the agent. */
  readonly definition: AgentDefinition;
  /** The values of the matrix that it stands for. */
  readonly parameters?: Readonly<Record<string, AxisValue>>;
};

/** A scorer of a suite. */
export type LoadedScorer = {
  /** The checked scorer. */
  readonly scorer: SuiteScorer;
  /** The checked definition of the judge, for a scorer that is one. */
  readonly judge?: AgentDefinition;
};

/** How many cases a suite has, and what is wrong with them. */
export type CaseCheck = {
  /** The number of valid cases. */
  readonly count: number;
  /** What is wrong with the others. */
  readonly problems: readonly Problem[];
};

/** A suite that has been checked, except for its cases, which are read one by one. */
export type LoadedSuite = {
  /** The name of the suite. */
  readonly name: string;
  /** Tags, to find runs by. */
  readonly tags: readonly string[];
  /** The configurations. */
  readonly configurations: readonly LoadedConfiguration[];
  /** How often each case is repeated. */
  readonly repetitions: number;
  /** The cells that are asked side by side. */
  readonly concurrency: number;
  /** `null` for no budget. */
  readonly maxCostUsd: number | null;
  /** `null` for no limit. */
  readonly stopAfterFailures: number | null;
  /** Whether the workspaces of cells stay after they are scored. */
  readonly keepWorkspaces: boolean;
  /** Versions of an application's own tools, servers, hooks and functions, by name: with them, cells are shared by runs. */
  readonly versions?: Readonly<Record<string, string>>;
  /** The scorers. */
  readonly scorers: readonly LoadedScorer[];
  /** Reads the cases from the first one. The iteration throws a `SuiteCaseError` at the first invalid case. */
  cases(): AsyncIterable<SuiteCase>;
  /** Reads all cases, and collects their problems up to a number of them; then the reading ends. */
  checkCases(maxProblems?: number): Promise<CaseCheck>;
};

const MAX_PROBLEMS = 20;

/** Creates the functions of a suite that read its cases. */
export function createCaseReaders(cases: UnreadCases): Pick<LoadedSuite, "cases" | "checkCases"> {
  return {
    cases: () => requireCases(cases),
    checkCases: (maxProblems = MAX_PROBLEMS) => checkCases(cases, maxProblems),
  };
}

async function* requireCases(cases: UnreadCases): AsyncGenerator<SuiteCase> {
  for await (const result of readCases(cases)) {
    if (!result.ok) throw new SuiteCaseError(result.problems);
    yield result.value;
  }
}

async function checkCases(cases: UnreadCases, maxProblems: number): Promise<CaseCheck> {
  const problems: Problem[] = [];
  let count = 0;
  for await (const result of readCases(cases)) {
    if (result.ok) count += 1;
    else problems.push(...result.problems);
    if (problems.length >= maxProblems) break;
  }
  return { count, problems: problems.slice(0, maxProblems) };
}
