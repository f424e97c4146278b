import { z } from "zod";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { check } from "../../schema/check.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import { getScorerName } from "../../schema/scorer-name.ts";
import { MAX_CONFIGURATIONS, MAX_NAME_CHARS, MAX_SCORERS } from "../../schema/suite.ts";
import { SuiteScorer, type SuiteScorerInput } from "../../schema/suite-scorer.ts";
import { checkDefinition } from "../check-definition.ts";
import { readValues } from "./case-sources.ts";
import {
  createCaseReaders,
  type LoadedConfiguration,
  type LoadedScorer,
  type LoadedSuite,
} from "./loaded-suite.ts";
import { SUITE_DEFAULTS, SUITE_FIELDS, type SuiteCaseTable } from "./suite-file-schema.ts";

/** A case of a suite in code. */
export type CaseInput = SuiteCaseTable;

/** A judge of a suite in code. */
export type JudgeInput = Extract<SuiteScorerInput, { type: "judge" }>;

/** A scorer of a suite in code: the judge is an agent, not the name of its file. */
export type ScorerInput =
  | Exclude<SuiteScorerInput, { type: "judge" }>
  | (Omit<JudgeInput, "agent"> & { readonly agent: AgentDefinitionInput });

/** The cases of a suite in code. A function is called for each reading; an iterator can be read once. */
export type CasesInput =
  | Iterable<CaseInput>
  | AsyncIterable<CaseInput>
  | (() =>
      | Iterable<CaseInput>
      | AsyncIterable<CaseInput>
      | Promise<Iterable<CaseInput> | AsyncIterable<CaseInput>>);

/** A suite in code. */
export type SuiteInput = {
  /** The name of the suite. */
  readonly name: string;
  /** Tags, to find runs by. */
  readonly tags?: readonly string[] | undefined;
  /** The agents, of which every case is asked. */
  readonly configurations: readonly {
    /** Unique within the suite; the name of the agent by default. */
    readonly name?: string | undefined;
    readonly agent: AgentDefinitionInput;
  }[];
  /** How often each case is repeated; once by default. */
  readonly repetitions?: number | undefined;
  /** The cells that are asked side by side; 20 by default. */
  readonly concurrency?: number | undefined;
  /** The budget of a run; none by default. */
  readonly maxCostUsd?: number | null | undefined;
  /** After this many failures of the same class nothing new begins; 20 by default, `null` for no limit. */
  readonly stopAfterFailures?: number | null | undefined;
  /** Whether the workspaces of cells stay after they are scored. */
  readonly keepWorkspaces?: boolean | undefined;
  /** Versions of your own tools, servers, hooks and functions, by name: with one for each, cells are shared by runs. */
  readonly versions?: Readonly<Record<string, string>> | undefined;
  /** The cases. */
  readonly cases: CasesInput;
  /** How answers are scored. */
  readonly scorers?: readonly ScorerInput[] | undefined;
};

/** A suite in code has problems. The message lists them. */
export class SuiteError extends Error {
  override readonly name = "SuiteError";
  /** Each problem, as one sentence. */
  readonly problems: readonly string[];

  /** Lists the problems in the message. */
  constructor(problems: readonly string[]) {
    super(`The suite cannot be used:\n${problems.join("\n")}`);
    this.problems = problems;
  }
}

const Definition = z.record(z.string(), z.unknown());

const SuiteObject = z.strictObject({
  name: SUITE_FIELDS.name,
  tags: SUITE_FIELDS.tags.default([]),
  configurations: z
    .array(z.strictObject({ name: z.string().min(1).max(MAX_NAME_CHARS).optional(), agent: Definition }))
    .min(1)
    .max(MAX_CONFIGURATIONS),
  repetitions: SUITE_FIELDS.repetitions.default(SUITE_DEFAULTS.repetitions),
  concurrency: SUITE_FIELDS.concurrency.default(SUITE_DEFAULTS.concurrency),
  maxCostUsd: SUITE_FIELDS.maxCostUsd.nullable().default(null),
  stopAfterFailures: SUITE_FIELDS.stopAfterFailures.nullable().default(SUITE_DEFAULTS.stopAfterFailures),
  keepWorkspaces: SUITE_FIELDS.keepWorkspaces.default(false),
  versions: SUITE_FIELDS.versions.default({}),
  cases: z.custom((value) => value !== undefined && value !== null, {
    error: "is missing; it must be an array, an iterable, or a function that returns one",
  }),
  scorers: z.array(z.record(z.string(), z.unknown())).max(MAX_SCORERS).default([]),
});

/**
 * Checks a suite and completes it with defaults. Its cases are checked as they are read; files that they name with `from`
 * are relative to the current folder.
 *
 * @throws SuiteError if anything else is invalid, with every problem.
 */
export function defineSuite(input: SuiteInput): LoadedSuite {
  const checked = check(SuiteObject, input, "suite");
  if (!checked.ok) throw new SuiteError(checked.problems);
  const { configurations, scorers, cases, ...fields } = checked.value;
  const problems: string[] = [];
  const suite: LoadedSuite = {
    ...fields,
    configurations: configurations.flatMap((configuration, index) =>
      checkConfiguration(configuration, `configurations.${index}`, problems),
    ),
    scorers: scorers.flatMap((scorer, index) => checkScorer(scorer, `scorers.${index}`, problems)),
    ...createCaseReaders({
      source: () => readValues("cases", cases),
      folder: { path: process.cwd(), displayName: "", untrusted: false },
      name: "cases",
    }),
  };
  reportRepeated(suite.configurations, ({ name }) => name, "configurations", problems);
  reportRepeated(suite.scorers, ({ scorer }) => getScorerName(scorer), "scorers", problems);
  if (problems.length > 0) throw new SuiteError(problems);
  return suite;
}

function checkConfiguration(
  { name, agent }: { readonly name?: string | undefined; readonly agent: unknown },
  place: string,
  problems: string[],
): readonly LoadedConfiguration[] {
  const definition = checkAgent(agent, `${place}.agent`, problems);
  return definition === undefined ? [] : [{ name: name ?? definition.name, definition }];
}

function checkAgent(agent: unknown, place: string, problems: string[]): AgentDefinition | undefined {
  const checked = checkDefinition(agent);
  if (checked.ok) return checked.definition;
  problems.push(...checked.problems.map((problem) => `${place}.${problem}`));
  return undefined;
}

/** Stands for a judge's definition while the rest of the scorer is checked. */
const JUDGE = "judge";

function checkScorer(
  input: Readonly<Record<string, unknown>>,
  place: string,
  problems: string[],
): readonly LoadedScorer[] {
  const isJudge = input["type"] === "judge" && input["agent"] !== undefined;
  const judge = isJudge ? checkAgent(input["agent"], `${place}.agent`, problems) : undefined;
  const checked = check(SuiteScorer, isJudge ? { ...input, agent: JUDGE } : input, "scorer");
  if (checked.ok) return [{ scorer: checked.value, ...omitUndefined({ judge }) }];
  problems.push(...checked.problems.map((problem) => `${place}.${problem}`));
  return [];
}

function reportRepeated<Value>(
  values: readonly Value[],
  getName: (value: Value) => string,
  place: string,
  problems: string[],
): void {
  const names = values.map(getName);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) === index) continue;
    problems.push(
      `${place}.${index}.name: another of the ${place} before has the name "${name}": give it a name of its own`,
    );
  }
}
