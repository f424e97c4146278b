import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Problem } from "../problem.ts";
import type { ProblemDetails, SourceFile } from "../source/source-file.ts";
import { formatPath, type Path } from "../source/source-node.ts";
import { References } from "./resolve-references.ts";

/** The environment that agent files are loaded in. */
export type LoadEnvironment = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative workspaces refer to. */
  readonly cwd: string;
  /** Throws if the file does not exist. */
  readonly readFile: (path: string) => string;
  /** Tools that are known without asking a worker. If absent, no tool name causes a warning. */
  readonly knownTools?: readonly string[] | undefined;
  /** All existing compaction strategies. If absent, a worker may have others. */
  readonly knownStrategies?: readonly string[] | undefined;
  /** The built-in catalogue by default. */
  readonly catalogue?: Catalogue | undefined;
  /**
   * The file comes from an untrusted source: it must not refer to files, and to no variables other than a vendor's key
   * that is sent to the vendor's own address. It must not state a sandbox, except the strictest.
   */
  readonly untrusted?: boolean | undefined;
  /** `doubted`: a model that neither the catalogue nor the file describes causes a warning. */
  readonly unknownModels?: "doubted" | undefined;
};

/** The state of loading one file: its values, its named entities, and the problems found so far. */
export class AgentFileLoader {
  readonly source: SourceFile;
  /** The file's value without its invalid parts. */
  readonly value: Record<string, unknown>;
  readonly environment: LoadEnvironment;
  readonly references: References;
  readonly #problems = new Map<string, Problem>();

  constructor(source: SourceFile, value: Record<string, unknown>, environment: LoadEnvironment) {
    this.source = source;
    this.value = value;
    this.environment = environment;
    this.references = new References({ ...source, value }, (path, { message, found, wanted, nearest }) =>
      this.report(path, {
        kind: "invalid-field",
        severity: "error",
        message,
        found,
        expected: `the name of a ${wanted}`,
        ...omitUndefined({ nearest }),
      }),
    );
  }

  /** Reports a problem. The same problem of two agents is reported once. */
  report(path: Path, about: ProblemDetails): void {
    const key = `${formatPath(path)} ${about.message}`;
    if (!this.#problems.has(key)) this.#problems.set(key, this.source.createProblem(path, about));
  }

  reportError(path: Path, message: string, expected: string, found?: unknown): void {
    this.report(path, { kind: "invalid-field", severity: "error", message, expected, found });
  }

  reportWarning(path: Path, message: string, about: Partial<ProblemDetails> = {}): void {
    this.report(path, { kind: "mistake", severity: "warning", message, ...about });
  }

  get problems(): readonly Problem[] {
    return [...this.#problems.values()];
  }
}
