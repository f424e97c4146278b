import type { AgentDefinition } from "../../schema/definition.ts";
import { JobLimits, type WorkMode } from "../../schema/mode.ts";
import type { Format } from "../source/format.ts";
import { MODEL_FIELDS } from "./fields/model.ts";
import { PROFILE_FIELDS } from "./fields/profile.ts";
import { MODE_LIMIT_FIELDS } from "./mode.ts";
import { SECTION_FIELDS } from "./schema.ts";
import {
  fallbacksOf,
  promptOf,
  schemaOf,
  subAgentNames,
  type Written,
  writeTable,
  written,
} from "./write.ts";

/** A file that means this mode, with all of its agents. Defaults of agents are left out. */
export function writeMode(mode: WorkMode, format: Format): string {
  const file = new ModeFile();
  const table = file.modeTable(mode);
  return writeTable(file.around(table), format);
}

const LIMITS = { limits: JobLimits.parse({}) };
const WITHOUT_NAME = PROFILE_FIELDS.filter(({ to }) => to[0] !== "name");

class ModeFile {
  readonly #instances: Written[] = [];
  readonly #subAgents: Written[] = [];
  #first: AgentDefinition | undefined;

  around(mode: Written): Written {
    return {
      agent: { instances: this.#instances },
      provider: written(MODEL_FIELDS, this.#first ?? {}),
      ...(this.#subAgents.length === 0 ? {} : { sub_agents: { instances: this.#subAgents } }),
      mode,
    };
  }

  modeTable(mode: WorkMode): Written {
    const { type } = mode;
    const limits = "limits" in mode ? written(MODE_LIMIT_FIELDS, mode, LIMITS) : {};
    switch (mode.type) {
      case "interactive": {
        const { idleTimeoutMs } = mode;
        return { type, agent: this.#add(mode.agent), idle_timeout_secs: orNone(idleTimeoutMs, 1000) };
      }
      case "autonomous": {
        const { maxRounds, maxIdleRounds } = mode;
        const rounds = { max_rounds: orNone(maxRounds, 1), max_idle_rounds: maxIdleRounds };
        return { type, agent: this.#add(mode.agent), ...rounds, ...limits };
      }
      case "pipeline": {
        const stages = mode.stages.map(({ name, agent, prompt, input }) => ({
          name,
          agent: this.#add(agent),
          ...(prompt === undefined ? {} : { prompt }),
          ...(input === undefined ? {} : { input: schemaOf(input) }),
        }));
        return { type, stages, ...limits };
      }
      case "fan-out": {
        const { tasks, concurrency, reducer } = mode;
        const agents = mode.agents.map((agent) => this.#add(agent));
        return { type, agents, ...(tasks === undefined ? {} : { tasks }), concurrency, reducer, ...limits };
      }
      case "supervisor": {
        const names = mode.agents.map(({ name }) => name);
        const agents = mode.agents.map(({ name, agent }) => this.#add(agent, name));
        const lead = this.#add(mode.lead, leadId(names));
        return { type, agent: lead, agents, max_agents: mode.maxAgents, ...limits };
      }
    }
  }

  /** @returns The name that it has in the file. */
  #add(definition: AgentDefinition, id = `agent-${this.#instances.length + 1}`): string {
    this.#first ??= definition;
    const instance: Written = {};
    this.#instances.push(instance);
    const profile = written(WITHOUT_NAME, definition);
    Object.assign(instance, {
      id,
      name: definition.name,
      ...(Object.keys(profile).length === 0 ? {} : { profile }),
      ...promptOf(definition),
      workspace: definition.workspace ?? "none",
      sub_agents: subAgentNames(definition, this.#subAgents) ?? "none",
      provider: written(MODEL_FIELDS, definition),
      ...fallbacksOf(definition),
      ...written(SECTION_FIELDS, definition),
    });
    return id;
  }
}

function leadId(taken: readonly string[]): string {
  let id = "lead";
  while (taken.includes(id)) id += "-";
  return id;
}

function orNone(value: number | null, unit: number): number | "none" {
  return value === null ? "none" : value / unit;
}
