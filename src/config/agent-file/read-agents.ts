import { resolve } from "node:path";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { CatalogueError, readCatalogue } from "../catalogue/user-file.ts";
import { describeReadError, readTextFile } from "../read-text.ts";
import type { SourceFormat } from "../source/source-format.ts";
import { type AgentFileResult, loadAgents } from "./load-agents.ts";

/** How an agent file is read and checked. */
export type ReadAgentsOptions = {
  /** The folder that relative paths refer to, including that of the file itself. */
  readonly cwd?: string | undefined;
  /** The environment for `${NAME}`; `process.env` by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** By default the format of the file's extension, or else the first of TOML, JSON and YAML that fits. */
  readonly format?: SourceFormat | undefined;
  /** The names of tools that exist; others are a warning. */
  readonly knownTools?: readonly string[] | undefined;
  /** All existing compaction strategies; any other is an error. */
  readonly knownStrategies?: readonly string[] | undefined;
  /**
   * By default the built-in catalogue and the user's own file.
   *
   * @internal
   */
  readonly catalogue?: Catalogue | undefined;
  readonly unknownModels?: "doubted" | undefined;
  /** Forbids references to files, and to variables that the file could send to an address of its own. */
  readonly untrusted?: boolean | undefined;
};

/** Reads the agents of a file (CFG-01). Never throws: an unreadable file is reported as a problem. */
export function readAgents(file: string, options: ReadAgentsOptions = {}): AgentFileResult {
  const {
    cwd = process.cwd(),
    env = process.env,
    format,
    knownTools,
    knownStrategies,
    unknownModels,
    untrusted,
  } = options;
  let text: string;
  let catalogue: Catalogue;
  try {
    catalogue = options.catalogue ?? readCatalogue(env);
    text = readTextFile(resolve(cwd, file));
  } catch (error) {
    if (error instanceof CatalogueError) return createUnreadableResult(file, error.message);
    return createUnreadableResult(file, `it cannot be read: ${describeReadError(error)}`);
  }
  const environment = {
    env,
    cwd,
    knownTools,
    knownStrategies,
    catalogue,
    unknownModels,
    untrusted,
    readFile: (path: string) => readTextFile(path),
  };
  return loadAgents(text, { name: file, format, ...environment });
}

function createUnreadableResult(file: string, message: string): AgentFileResult {
  const expected = "a file that can be read";
  return { agents: [], problems: [{ kind: "io", severity: "error", file, message, expected }] };
}
