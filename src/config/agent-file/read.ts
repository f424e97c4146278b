import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Format } from "../source/format.ts";
import { type AgentFileResult, loadAgents } from "./load.ts";

export type ReadAgentsOptions = {
  /** Relative names, of the file itself too, are meant from here. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Else the file's extension says it, or the first of TOML, JSON and YAML that fits. */
  readonly format?: Format | undefined;
  readonly knownTools?: readonly string[] | undefined;
};

/** The agents of a file (CFG-01). Nothing is thrown: a file that cannot be read is a problem of it. */
export function readAgents(file: string, options: ReadAgentsOptions = {}): AgentFileResult {
  const { cwd = process.cwd(), env = process.env, format, knownTools } = options;
  let text: string;
  try {
    text = readText(resolve(cwd, file));
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    const message = `it cannot be read: ${why}`;
    return {
      agents: [],
      problems: [{ kind: "io", severity: "error", file, message, expected: "a file that can be read" }],
    };
  }
  return loadAgents(text, { name: file, format, env, cwd, knownTools, readFile: readText });
}

function readText(file: string): string {
  return readFileSync(file, "utf8");
}
