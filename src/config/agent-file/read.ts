import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { CatalogueError, catalogueOf } from "../catalogue/user-file.ts";
import type { Format } from "../source/format.ts";
import { type AgentFileResult, loadAgents } from "./load.ts";

export type ReadAgentsOptions = {
  /** Relative names, of the file itself too, are meant from here. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Else the file's extension says it, or the first of TOML, JSON and YAML that fits. */
  readonly format?: Format | undefined;
  readonly knownTools?: readonly string[] | undefined;
  /** Compaction strategies that there are, where any other is an error. */
  readonly knownStrategies?: readonly string[] | undefined;
  /** What is built in and the user's own file, unless said. */
  readonly catalogue?: Catalogue | undefined;
  readonly unknownModels?: "doubted" | undefined;
};

/** The agents of a file (CFG-01). Nothing is thrown: a file that cannot be read is a problem of it. */
export function readAgents(file: string, options: ReadAgentsOptions = {}): AgentFileResult {
  const {
    cwd = process.cwd(),
    env = process.env,
    format,
    knownTools,
    knownStrategies,
    unknownModels,
  } = options;
  let text: string;
  let catalogue: Catalogue;
  try {
    catalogue = options.catalogue ?? catalogueOf(env);
    text = readText(resolve(cwd, file));
  } catch (error) {
    if (error instanceof CatalogueError) return unreadable(file, error.message);
    const why =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    return unreadable(file, `it cannot be read: ${why}`);
  }
  const surroundings = {
    env,
    cwd,
    knownTools,
    knownStrategies,
    catalogue,
    unknownModels,
    readFile: readText,
  };
  return loadAgents(text, { name: file, format, ...surroundings });
}

function unreadable(file: string, message: string): AgentFileResult {
  const expected = "a file that can be read";
  return { agents: [], problems: [{ kind: "io", severity: "error", file, message, expected }] };
}

function readText(file: string): string {
  return readFileSync(file, "utf8");
}
