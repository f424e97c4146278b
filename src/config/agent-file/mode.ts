import { nearestName } from "../../platform/text/nearest-name.ts";
import { wanted } from "../../schema/check.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { JobLimits, PartName, WorkMode } from "../../schema/mode.ts";
import type { Path } from "../source/node.ts";
import { Draft } from "./draft.ts";
import { limitFields } from "./fields/execution.ts";
import { fileText } from "./prompt.ts";
import { at, isTable, listAt, type Table, textAt } from "./table.ts";
import type { Workbench } from "./workbench.ts";

// [mode]: how the agents of a file work together. Its agents are those of the file, by name.

type Named = { readonly name: string; readonly definition: AgentDefinition };

export const MODE_LIMIT_FIELDS = limitFields("", "limits", JobLimits.parse({}));

const LIMITS = MODE_LIMIT_FIELDS.map(({ places }) => places[0]![0]!);

/** What each type says beside its type. */
const USED: Readonly<Record<WorkMode["type"], readonly string[]>> = {
  interactive: ["agent", "idle_timeout_secs"],
  autonomous: ["agent", "max_rounds", "max_idle_rounds", ...LIMITS],
  pipeline: ["stages", ...LIMITS],
  "fan-out": ["agents", "tasks", "concurrency", "reducer", ...LIMITS],
  supervisor: ["agent", "agents", "max_agents", ...LIMITS],
};

const MODE: Path = ["mode"];

/** The mode that a file declares, or nothing; what is wrong with it is told. */
export function modeOf(bench: Workbench, agents: readonly Named[]): WorkMode | undefined {
  const table = at(bench.value, MODE);
  const type = textAt(table, ["type"]) as WorkMode["type"] | undefined;
  if (!isTable(table) || type === undefined) return undefined;
  for (const key of Object.keys(table)) {
    if (key === "type" || USED[type].includes(key)) continue;
    bench.wrong([...MODE, key], `this is nothing that a mode of type "${type}" has`, USED[type].join(", "));
  }
  const parsed = WorkMode.safeParse(inputOf(type, table, new Cast(bench, agents)), { error: wanted });
  if (parsed.success) return parsed.data;
  if (bench.problems.some(({ severity }) => severity === "error")) return undefined;
  for (const { path, message } of parsed.error.issues) {
    if (path.join(".") === "limits.maxCostUsd") bench.wrong([...MODE, "max_cost"], message, "known prices");
    else bench.wrong(MODE, `${path.join(".")}: ${message}`, message.replace(/^must be /, ""));
  }
  return undefined;
}

function inputOf(type: WorkMode["type"], table: Table, cast: Cast): unknown {
  const limits = new Draft();
  limits.take(MODE_LIMIT_FIELDS, [{ path: MODE, value: table }]);
  const limited = { type, ...limits.value };
  switch (type) {
    case "interactive":
      return { type, agent: cast.one(), ...renamed(table, { idle_timeout_secs: "idleTimeoutMs" }) };
    case "autonomous": {
      const rounds = renamed(table, { max_rounds: "maxRounds", max_idle_rounds: "maxIdleRounds" });
      return { ...limited, agent: cast.one(), ...rounds };
    }
    case "pipeline":
      return { ...limited, stages: listAt(table, ["stages"]).map((_, index) => cast.stage(index)) };
    case "fan-out": {
      const rest = renamed(table, { tasks: "tasks", concurrency: "concurrency", reducer: "reducer" });
      return { ...limited, agents: cast.several().map(({ definition }) => definition), ...rest };
    }
    case "supervisor": {
      const lead = cast.one();
      const agents = cast.several(lead).map(({ name, definition }) => ({ name, agent: definition }));
      return { ...limited, lead, agents, ...renamed(table, { max_agents: "maxAgents" }) };
    }
  }
}

/** Keys for which the word "none" is the definition's null. */
const NULLABLE = ["max_rounds", "idle_timeout_secs"];

/** Seconds become milliseconds. */
function renamed(table: Table, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const said = Object.entries(names).filter(([key]) => table[key] !== undefined);
  return Object.fromEntries(
    said.map(([key, to]) => {
      const value = NULLABLE.includes(key) && table[key] === "none" ? null : table[key];
      return [to, key.endsWith("_secs") && typeof value === "number" ? Math.round(value * 1000) : value];
    }),
  );
}

/** The agents of a file, as a mode names them. */
class Cast {
  readonly #bench: Workbench;
  readonly #agents: readonly Named[];

  constructor(bench: Workbench, agents: readonly Named[]) {
    this.#bench = bench;
    this.#agents = agents;
  }

  /** `agent`; may be left out where there is one alone. */
  one(): AgentDefinition | undefined {
    const path = [...MODE, "agent"];
    const name = textAt(this.#bench.value, path);
    if (name !== undefined) return this.#find(name, path)?.definition;
    const [first, second] = this.#agents;
    if (second === undefined) return first?.definition;
    this.#bench.wrong(MODE, `agent is missing: this file has ${this.#names()}`, "the name of an agent");
    return undefined;
  }

  /** `agents`; all of the file unless said. */
  several(but?: AgentDefinition): readonly Named[] {
    const path = [...MODE, "agents"];
    if (at(this.#bench.value, path) === undefined) {
      return this.#agents.filter(({ definition }) => definition !== but);
    }
    return listAt(this.#bench.value, path).flatMap((name, index) => {
      const found = typeof name === "string" ? this.#find(name, [...path, index]) : undefined;
      return found === undefined ? [] : [found];
    });
  }

  stage(index: number): unknown {
    const path = [...MODE, "stages", index];
    const table = at(this.#bench.value, path);
    const agent = textAt(table, ["agent"]);
    if (agent === undefined) return undefined;
    const name = textAt(table, ["name"]) ?? agent;
    if (!PartName.safeParse(name).success) {
      const message = `"${name}" cannot be the name of a stage: give it one of 1 to 64 letters, digits, - or _`;
      this.#bench.wrong([...path, "name"], message, "1 to 64 letters, digits, - or _", name);
    }
    const prompt = textAt(table, ["prompt"]);
    const input = this.#schema(at(table, ["input"]), [...path, "input"]);
    return {
      name,
      agent: this.#find(agent, [...path, "agent"])?.definition,
      ...(prompt === undefined ? {} : { prompt }),
      ...(input === undefined ? {} : { input }),
    };
  }

  #schema(said: unknown, path: Path): unknown {
    if (typeof said !== "string") return said;
    const { cwd } = this.#bench.surroundings;
    const { text } = fileText(this.#bench, said, path, cwd);
    try {
      return text === "" ? undefined : JSON.parse(text);
    } catch (error) {
      this.#bench.wrong(path, `this is not a JSON Schema: ${(error as Error).message}`, "JSON", said);
      return undefined;
    }
  }

  #find(name: string, path: Path): Named | undefined {
    const found = this.#agents.find((agent) => agent.name === name);
    if (found !== undefined) return found;
    const names = this.#agents.map((agent) => agent.name);
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? ` (there are ${this.#names()})` : `; did you mean "${nearest}"?`;
    this.#bench.tell(path, {
      kind: "invalid-field",
      severity: "error",
      message: `there is no agent "${name}" in this file${hint}`,
      found: name,
      expected: "the name of an agent",
      ...(nearest === undefined ? {} : { nearest }),
    });
    return undefined;
  }

  #names(): string {
    return this.#agents.map(({ name }) => name).join(", ");
  }
}
