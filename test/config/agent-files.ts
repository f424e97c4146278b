import { loadAgents } from "../../src/config/agent-file/load-agents.ts";
import { formatProblem, type Problem } from "../../src/config/problem.ts";
import type { SourceFormat } from "../../src/config/source/source-format.ts";
import type { AgentDefinition } from "../../src/schema/definition.ts";

export type FileContext = {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly format?: SourceFormat;
  readonly knownTools?: readonly string[];
  readonly knownStrategies?: readonly string[];
  readonly unknownModels?: "doubted";
  readonly name?: string;
};

export const PROVIDER = '[provider]\nmodel = "claude-x"\napi_key = "${KEY}"\n';

/** Loads a text as a file of /home/me/project. */
export function load(
  text: string,
  {
    env = {},
    files = {},
    format = "toml",
    knownTools,
    knownStrategies,
    unknownModels,
    name,
  }: FileContext = {},
) {
  return loadAgents(text, {
    name: name ?? `agent.${format}`,
    env,
    cwd: "/home/me/project",
    knownTools,
    unknownModels,
    knownStrategies,
    readFile: (path) => {
      const found = files[path];
      if (found === undefined) throw Object.assign(new Error(`no ${path}`), { code: "ENOENT" });
      return found;
    },
  });
}

/** The definitions of a file without errors, by name. */
export function loadDefinitions(
  text: string,
  world: FileContext = {},
): Readonly<Record<string, AgentDefinition>> {
  const { agents, problems } = load(text, world);
  if (agents.length === 0) throw new Error(problems.map(formatProblem).join("\n"));
  return Object.fromEntries(agents.map(({ name, definition }) => [name, definition]));
}

/** The one agent of a file with a provider. */
export function loadAgent(text: string, world: FileContext = {}): AgentDefinition {
  const all = Object.values(loadDefinitions(text.includes("[provider]") ? text : PROVIDER + text, world));
  if (all.length !== 1) throw new Error(`${all.length} agents`);
  return all[0]!;
}

export function listProblems(text: string, world: FileContext = {}): readonly Problem[] {
  return load(text, world).problems;
}

/** The one problem of a file that has a provider section before the text. */
export function loadProblem(text: string, world: FileContext = {}): Problem {
  const { problems } = load(text.includes("[provider]") ? text : `${text}\n${PROVIDER}`, world);
  if (problems.length !== 1)
    throw new Error(`${problems.length} problems:\n${problems.map(formatProblem).join("\n")}`);
  return problems[0]!;
}
