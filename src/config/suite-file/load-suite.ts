import { resolve } from "node:path";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { formatExpected } from "../../schema/check.ts";
import { getScorerName } from "../../schema/scorer-name.ts";
import { NONE_AS_NULL } from "../agent-file/define-field.ts";
import type { ReadAgentsOptions } from "../agent-file/read-agents.ts";
import { getAt, omitPaths } from "../agent-file/table-paths.ts";
import { type Problem, sortProblems } from "../problem.ts";
import { describeReadError, readTextFile } from "../read-text.ts";
import { readSource, type SourceFile } from "../source/source-file.ts";
import type { Path } from "../source/source-node.ts";
import { describeSuiteIssues } from "./describe-suite-issues.ts";
import { expandMatrix } from "./expand-matrix.ts";
import {
  createCaseReaders,
  type LoadedConfiguration,
  type LoadedScorer,
  type LoadedSuite,
} from "./loaded-suite.ts";
import type { AxisValue } from "./matrix-axes.ts";
import { openSuiteCases } from "./open-suite-cases.ts";
import { toSuiteScorer } from "./scorer-table.ts";
import { nameAgents, SuiteAgents } from "./suite-agents.ts";
import { SUITE_DEFAULTS, SuiteFile } from "./suite-file-schema.ts";
import { createSuiteFolder, type SuiteFolder } from "./suite-folder.ts";

/** A suite, or what is wrong with its file and the agent files that it names. */
export type SuiteFileResult = {
  /** Absent if there are errors. Its cases are checked as they are read, except those in the file itself. */
  readonly suite?: LoadedSuite;
  /** The suite file's own problems by position, then those of its agent files. Warnings can accompany a suite. */
  readonly problems: readonly Problem[];
};

/** How a suite file and its agent files are read. */
export type ReadSuiteOptions = ReadAgentsOptions;

/**
 * Reads a suite file: TOML, YAML or JSON. Paths in it are relative to its folder. `${NAME}` is plain text in it, so that
 * prompts and commands may contain it; in agent files it stands for a variable. Never throws for what a file contains.
 *
 * An untrusted suite may use files of its own folder only, and no modules; its agent files are untrusted too.
 */
export async function readSuite(file: string, options: ReadSuiteOptions = {}): Promise<SuiteFileResult> {
  let text: string;
  try {
    text = readTextFile(resolve(options.cwd ?? process.cwd(), file));
  } catch (error) {
    const message = `it cannot be read: ${describeReadError(error)}`;
    const expected = "a file that can be read";
    return { problems: [{ kind: "io", severity: "error", file, message, expected }] };
  }
  return loadSuite(text, { ...options, name: file });
}

const HINT = "a suite file has at least a name, `agents` and `cases`";

/** Reads the text of a suite file. @param options - `name` is the file's name, whose folder the paths are relative to. */
async function loadSuite(
  text: string,
  { name, format, ...options }: ReadSuiteOptions & { readonly name: string },
): Promise<SuiteFileResult> {
  const read = readSource(text, {
    name,
    format,
    env: {},
    isSecret: () => false,
    hint: HINT,
    substitutes: false,
  });
  if (!read.ok) return { problems: read.problems };
  const { source } = read;
  const cwd = options.cwd ?? process.cwd();
  const loader = new SuiteLoader(source, createSuiteFolder(name, cwd, options.untrusted === true), options);
  const suite = await loader.load();
  const problems = loader.listProblems();
  const isBroken = suite === undefined || problems.some(({ severity }) => severity === "error");
  return isBroken ? { problems } : { suite, problems };
}

type SuiteValue = Readonly<Record<string, unknown>>;

/** The state of loading one suite file. */
class SuiteLoader {
  readonly #source: SourceFile;
  readonly #folder: SuiteFolder;
  readonly #options: ReadSuiteOptions;
  readonly #agents: SuiteAgents;
  readonly #problems: Problem[] = [];

  constructor(source: SourceFile, folder: SuiteFolder, options: ReadSuiteOptions) {
    this.#source = source;
    this.#folder = folder;
    this.#options = options;
    this.#agents = new SuiteAgents(source, folder, { ...options, format: undefined });
  }

  listProblems(): readonly Problem[] {
    return [...sortProblems([...this.#problems, ...this.#agents.references]), ...this.#agents.problems];
  }

  async load(): Promise<LoadedSuite | undefined> {
    const value = this.#validate();
    const configurations = this.#loadConfigurations(value);
    const scorers = this.#loadScorers(value);
    const cases = await openSuiteCases(value["cases"], {
      source: this.#source,
      folder: this.#folder,
      problems: this.#problems,
    });
    if (cases === undefined || this.#problems.some(({ severity }) => severity === "error")) return undefined;
    const { name, tags, repetitions, concurrency, versions, keep_workspaces } = value as Partial<
      Pick<LoadedSuite, "name" | "tags" | "repetitions" | "concurrency" | "versions">
    > & { readonly keep_workspaces?: boolean };
    const readLimit = (key: string, otherwise: number | null): number | null =>
      value[key] === undefined ? otherwise : (NONE_AS_NULL.read(value[key]) as number | null);
    return {
      name: name ?? "",
      tags: tags ?? [],
      configurations,
      repetitions: repetitions ?? SUITE_DEFAULTS.repetitions,
      concurrency: concurrency ?? SUITE_DEFAULTS.concurrency,
      maxCostUsd: readLimit("max_cost", null),
      stopAfterFailures: readLimit("stop_after_failures", SUITE_DEFAULTS.stopAfterFailures),
      keepWorkspaces: keep_workspaces ?? false,
      ...omitUndefined({ versions }),
      scorers,
      ...createCaseReaders(cases),
    };
  }

  /** Returns the file's value without its invalid parts, in the order of the file. */
  #validate(): SuiteValue {
    const { value } = this.#source;
    const parsed = SuiteFile.safeParse(value, { error: formatExpected });
    const { problems, invalid } = parsed.success
      ? { problems: [], invalid: [] }
      : describeSuiteIssues(parsed.error, this.#source);
    this.#problems.push(...problems);
    if (value["agents"] === undefined && value["matrix"] === undefined)
      this.#report(
        [],
        'no configuration: add agents = ["agent.toml"], or a section [matrix] with the key `agent`',
      );
    if (value["agents"] !== undefined && value["matrix"] !== undefined)
      this.#report(
        ["agents"],
        "a suite has either `agents` or [matrix], and this one has both: move the agents to `agent` in [matrix]",
      );
    const usable = omitPaths(value, invalid) as Record<string, unknown>;
    // What is left of cases with a problem would only cause others.
    if (invalid.some(([section]) => section === "cases")) delete usable["cases"];
    return usable;
  }

  /** Reports an error. Combinations of the matrix that have the same one report it once. */
  #report(path: Path, message: string): void {
    const problem = this.#source.createProblem(path, { kind: "invalid-field", severity: "error", message });
    const isKnown = this.#problems.some(
      (known) => known.field === problem.field && known.message === problem.message,
    );
    if (!isKnown) this.#problems.push(problem);
  }

  #loadConfigurations({ agents, matrix }: SuiteValue): readonly LoadedConfiguration[] {
    if (matrix !== undefined) {
      const table = matrix as Readonly<Record<string, AxisValue | readonly AxisValue[]>>;
      if (table["agent"] === undefined) return [];
      return expandMatrix(table, {
        agents: this.#agents,
        folder: this.#folder,
        catalogue: this.#options.catalogue,
        report: (path, message) => this.#report(path, message),
      });
    }
    // An invalid member has left a hole.
    const references = ((agents ?? []) as readonly (string | undefined)[]).map(
      (reference) => reference ?? "",
    );
    const names = nameAgents(references);
    return references.flatMap((reference, index) => {
      if (reference === "") return [];
      if (references.indexOf(reference) !== index) {
        this.#report(["agents", index], `${reference} stands twice`);
        return [];
      }
      const loaded = this.#agents.load(reference, ["agents", index]);
      return loaded === undefined ? [] : [{ name: names[index]!, definition: loaded.definition }];
    });
  }

  #loadScorers({ scorers }: SuiteValue): readonly LoadedScorer[] {
    const tables = (scorers ?? []) as readonly (SuiteValue | undefined)[];
    const seen = new Set<string>();
    return tables.flatMap((table, index) => {
      if (table === undefined || getAt(this.#source.value, ["scorers", index]) === undefined) return [];
      const path = ["scorers", index];
      const isSound = !this.#problems.some(({ field }) => field?.startsWith(`scorers[${index}]`));
      if (!isSound) return [];
      const scorer = toSuiteScorer(table);
      const name = getScorerName(scorer);
      if (seen.has(name))
        this.#report(
          [...path, "type"],
          `another scorer before has the name "${name}": add a name of its own, as \`name\``,
        );
      seen.add(name);
      if (scorer.type === "regex" && scorer.pattern !== undefined)
        this.#checkPattern(scorer.pattern, scorer.flags, path);
      const judge =
        scorer.type === "judge" ? this.#agents.load(scorer.agent, [...path, "agent"])?.definition : undefined;
      return [{ scorer, ...omitUndefined({ judge }) }];
    });
  }

  #checkPattern(pattern: string, flags: string, path: Path): void {
    try {
      new RegExp(pattern, flags);
    } catch (error) {
      this.#report([...path, "pattern"], `this is not a regular expression: ${(error as Error).message}`);
    }
  }
}
