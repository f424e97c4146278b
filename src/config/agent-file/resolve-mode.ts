import { isObject, type JsonObject } from "../../platform/text/json.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { formatExpected } from "../../schema/check.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { JobLimits, PartName, WorkMode } from "../../schema/mode.ts";
import type { Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import { Draft } from "./draft.ts";
import { defineLimitFields } from "./fields/execution.ts";
import { readTextOrFile } from "./resolve-prompt.ts";
import { getAt, getListAt, getTextAt } from "./table-paths.ts";

// [mode]: how the agents of a file work together. It refers to the agents of the file by name.

type NamedAgent = { readonly name: string; readonly definition: AgentDefinition };

export const MODE_LIMIT_FIELDS = defineLimitFields("", "limits", JobLimits.parse({}));

const LIMITS = MODE_LIMIT_FIELDS.map(({ paths }) => paths[0]![0]!);

/** The keys that each type uses, in addition to `type`. */
const USED_LIMITS: Readonly<Record<WorkMode["type"], readonly string[]>> = {
  interactive: ["agent", "idle_timeout_secs"],
  autonomous: ["agent", "max_rounds", "max_idle_rounds", ...LIMITS],
  pipeline: ["stages", ...LIMITS],
  "fan-out": ["agents", "tasks", "concurrency", "reducer", ...LIMITS],
  supervisor: ["agent", "agents", "max_agents", ...LIMITS],
};

const MODE: Path = ["mode"];

/** Resolves the mode that a file declares, if any, and reports its problems. */
export function resolveMode(loader: AgentFileLoader, agents: readonly NamedAgent[]): WorkMode | undefined {
  const table = getAt(loader.value, MODE);
  const type = getTextAt(table, ["type"]) as WorkMode["type"] | undefined;
  if (!isObject(table) || type === undefined) return undefined;
  for (const key of Object.keys(table)) {
    if (key === "type" || USED_LIMITS[type].includes(key)) continue;
    loader.reportError(
      [...MODE, key],
      `a mode of type "${type}" does not have this key`,
      USED_LIMITS[type].join(", "),
    );
  }
  const parsed = WorkMode.safeParse(buildModeInput(type, table, new ModeAgents(loader, agents)), {
    error: formatExpected,
  });
  if (parsed.success) return parsed.data;
  if (loader.problems.some(({ severity }) => severity === "error")) return undefined;
  for (const { path, message } of parsed.error.issues) {
    if (path.join(".") === "limits.maxCostUsd")
      loader.reportError([...MODE, "max_cost"], message, "known prices");
    else loader.reportError(MODE, `${path.join(".")}: ${message}`, message.replace(/^must be /, ""));
  }
  return undefined;
}

function buildModeInput(type: WorkMode["type"], table: JsonObject, modeAgents: ModeAgents): unknown {
  const limits = new Draft();
  limits.applyFields(MODE_LIMIT_FIELDS, [{ path: MODE, value: table }]);
  const limited = { type, ...limits.value };
  switch (type) {
    case "interactive":
      return {
        type,
        agent: modeAgents.resolveAgent(),
        ...renameKeys(table, { idle_timeout_secs: "idleTimeoutMs" }),
      };
    case "autonomous": {
      const rounds = renameKeys(table, { max_rounds: "maxRounds", max_idle_rounds: "maxIdleRounds" });
      return { ...limited, agent: modeAgents.resolveAgent(), ...rounds };
    }
    case "pipeline":
      return {
        ...limited,
        stages: getListAt(table, ["stages"]).map((_, index) => modeAgents.resolveStage(index)),
      };
    case "fan-out": {
      const rest = renameKeys(table, { tasks: "tasks", concurrency: "concurrency", reducer: "reducer" });
      return { ...limited, agents: modeAgents.resolveAgents().map(({ definition }) => definition), ...rest };
    }
    case "supervisor": {
      const lead = modeAgents.resolveAgent();
      const agents = modeAgents
        .resolveAgents(lead)
        .map(({ name, definition }) => ({ name, agent: definition }));
      return { ...limited, lead, agents, ...renameKeys(table, { max_agents: "maxAgents" }) };
    }
  }
}

/** Keys for which "none" becomes null in the definition. */
const NULLABLE = ["max_rounds", "idle_timeout_secs"];

/** Renames the keys and converts seconds to milliseconds. */
function renameKeys(table: JsonObject, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const values = Object.entries(names).filter(([key]) => table[key] !== undefined);
  return Object.fromEntries(
    values.map(([key, to]) => {
      const value = NULLABLE.includes(key) && table[key] === "none" ? null : table[key];
      return [to, key.endsWith("_secs") && typeof value === "number" ? Math.round(value * 1000) : value];
    }),
  );
}

/** Resolves the agents that a mode refers to. */
class ModeAgents {
  readonly #loader: AgentFileLoader;
  readonly #agents: readonly NamedAgent[];

  constructor(loader: AgentFileLoader, agents: readonly NamedAgent[]) {
    this.#loader = loader;
    this.#agents = agents;
  }

  /** Resolves `agent`, which is optional if the file has a single agent. */
  resolveAgent(): AgentDefinition | undefined {
    const path = [...MODE, "agent"];
    const name = getTextAt(this.#loader.value, path);
    if (name !== undefined) return this.#findAgent(name, path)?.definition;
    const [first, second] = this.#agents;
    if (second === undefined) return first?.definition;
    this.#loader.reportError(
      MODE,
      `agent is missing: this file has ${this.#formatNames()}`,
      "the name of an agent",
    );
    return undefined;
  }

  /** Resolves `agents`, by default all of the file except one. */
  resolveAgents(but?: AgentDefinition): readonly NamedAgent[] {
    const path = [...MODE, "agents"];
    if (getAt(this.#loader.value, path) === undefined) {
      return this.#agents.filter(({ definition }) => definition !== but);
    }
    return getListAt(this.#loader.value, path).flatMap((name, index) => {
      const found = typeof name === "string" ? this.#findAgent(name, [...path, index]) : undefined;
      return found === undefined ? [] : [found];
    });
  }

  resolveStage(index: number): unknown {
    const path = [...MODE, "stages", index];
    const table = getAt(this.#loader.value, path);
    const agent = getTextAt(table, ["agent"]);
    if (agent === undefined) return undefined;
    const name = getTextAt(table, ["name"]) ?? agent;
    if (!PartName.safeParse(name).success) {
      const message = `"${name}" is not a valid name of a stage: use 1 to 64 letters, digits, - or _`;
      this.#loader.reportError([...path, "name"], message, "1 to 64 letters, digits, - or _", name);
    }
    const prompt = getTextAt(table, ["prompt"]);
    const input = this.#readSchema(getAt(table, ["input"]), [...path, "input"]);
    return {
      name,
      agent: this.#findAgent(agent, [...path, "agent"])?.definition,
      ...omitUndefined({ prompt, input }),
    };
  }

  #readSchema(setting: unknown, path: Path): unknown {
    if (typeof setting !== "string") return setting;
    const { cwd } = this.#loader.environment;
    const { text } = readTextOrFile(this.#loader, setting, path, cwd);
    try {
      return text === "" ? undefined : JSON.parse(text);
    } catch (error) {
      this.#loader.reportError(
        path,
        `this is not a JSON Schema: ${(error as Error).message}`,
        "JSON",
        setting,
      );
      return undefined;
    }
  }

  #findAgent(name: string, path: Path): NamedAgent | undefined {
    const found = this.#agents.find((agent) => agent.name === name);
    if (found !== undefined) return found;
    const names = this.#agents.map((agent) => agent.name);
    const nearest = findNearestName(name, names);
    const hint =
      nearest === undefined ? ` (known are ${this.#formatNames()})` : `; did you mean "${nearest}"?`;
    this.#loader.report(path, {
      kind: "invalid-field",
      severity: "error",
      message: `there is no agent "${name}" in this file${hint}`,
      found: name,
      expected: "the name of an agent",
      ...omitUndefined({ nearest }),
    });
    return undefined;
  }

  #formatNames(): string {
    return this.#agents.map(({ name }) => name).join(", ");
  }
}
