import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Problem } from "../problem.ts";
import { type Path, pathText } from "../source/node.ts";
import type { About, SourceFile } from "../source/source-file.ts";
import { References } from "./references.ts";

/** What composing touches of the world. */
export type Surroundings = {
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
  /** `doubted`: a model that the catalogue does not know, and the file says nothing of, is worth a warning. */
  readonly unknownModels?: "doubted" | undefined;
};

/** One file on the bench: its values, its names, and what is wrong with it so far. */
export class Workbench {
  readonly source: SourceFile;
  /** Without what is wrong. */
  readonly value: Record<string, unknown>;
  readonly surroundings: Surroundings;
  readonly references: References;
  readonly #problems = new Map<string, Problem>();

  constructor(source: SourceFile, value: Record<string, unknown>, surroundings: Surroundings) {
    this.source = source;
    this.value = value;
    this.surroundings = surroundings;
    this.references = new References({ ...source, value }, (path, { message, found, wanted, nearest }) =>
      this.tell(path, {
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
  tell(path: Path, about: About): void {
    const key = `${pathText(path)} ${about.message}`;
    if (!this.#problems.has(key)) this.#problems.set(key, this.source.problem(path, about));
  }

  wrong(path: Path, message: string, expected: string, found?: unknown): void {
    this.tell(path, { kind: "invalid-field", severity: "error", message, expected, found });
  }

  doubt(path: Path, message: string, about: Partial<About> = {}): void {
    this.tell(path, { kind: "mistake", severity: "warning", message, ...about });
  }

  get problems(): readonly Problem[] {
    return [...this.#problems.values()];
  }
}
