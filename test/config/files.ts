import { loadAgents } from "../../src/config/agent-file/load.ts";
import { type Problem, problemLine } from "../../src/config/problem.ts";
import type { Format } from "../../src/config/source/format.ts";
import type { AgentDefinition } from "../../src/schema/definition.ts";

export type World = {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly format?: Format;
  readonly knownTools?: readonly string[];
  readonly knownStrategies?: readonly string[];
  readonly name?: string;
};

export const PROVIDER = '[provider]\nmodel = "claude-x"\napi_key = "${KEY}"\n';

/** Loads a text as a file of /home/me/project. */
export function load(
  text: string,
  { env = {}, files = {}, format = "toml", knownTools, knownStrategies, name }: World = {},
) {
  return loadAgents(text, {
    name: name ?? `agent.${format}`,
    env,
    cwd: "/home/me/project",
    knownTools,
    knownStrategies,
    readFile: (path) => {
      const found = files[path];
      if (found === undefined) throw Object.assign(new Error(`no ${path}`), { code: "ENOENT" });
      return found;
    },
  });
}

/** The definitions of a file without errors, by name. */
export function definitions(text: string, world: World = {}): Readonly<Record<string, AgentDefinition>> {
  const { agents, problems } = load(text, world);
  if (agents.length === 0) throw new Error(problems.map(problemLine).join("\n"));
  return Object.fromEntries(agents.map(({ name, definition }) => [name, definition]));
}

/** The one agent of a file with a provider. */
export function agentOf(text: string, world: World = {}): AgentDefinition {
  const all = Object.values(definitions(text.includes("[provider]") ? text : PROVIDER + text, world));
  if (all.length !== 1) throw new Error(`${all.length} agents`);
  return all[0]!;
}

export function problemsOf(text: string, world: World = {}): readonly Problem[] {
  return load(text, world).problems;
}

/** The one problem of a file with a provider before it. */
export function problemOf(text: string, world: World = {}): Problem {
  const { problems } = load(text.includes("[provider]") ? text : `${text}\n${PROVIDER}`, world);
  if (problems.length !== 1)
    throw new Error(`${problems.length} problems:\n${problems.map(problemLine).join("\n")}`);
  return problems[0]!;
}
