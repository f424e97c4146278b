import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Problem } from "../problem.ts";
import type { ProblemDetails, SourceFile } from "../source/source-file.ts";
import { formatPath, type Path } from "../source/source-node.ts";
import { References } from "./resolve-references.ts";

/** What composing touches of the world. */
export type LoadEnvironment = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative workspaces, and `.`, are meant from here. */
  readonly cwd: string;
  /** Throws when there is no such file. */
  readonly readFile: (path: string) => string;
  /** Tools that are known without asking a worker; no name is doubtful where they are not said. */
  readonly knownTools?: readonly string[] | undefined;
  /** Compaction strategies that there are; where they are not said, a worker may have others. */
  readonly knownStrategies?: readonly string[] | undefined;
  /** What is built in, unless said. */
  readonly catalogue?: Catalogue | undefined;
  /**
   * The file comes from somebody who is not trusted: it may name no files to read, and no variables but the key of a
   * vendor at the vendor's own address.
   */
  readonly untrusted?: boolean | undefined;
  /** `doubted`: a model that the catalogue does not know, and the file says nothing of, is worth a warning. */
  readonly unknownModels?: "doubted" | undefined;
};

/** One file on the bench: its values, its names, and what is wrong with it so far. */
export class AgentFileLoader {
  readonly source: SourceFile;
  /** Without what is wrong. */
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
        ...(nearest === undefined ? {} : { nearest }),
      }),
    );
  }

  /** The same of two agents is said once. */
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
