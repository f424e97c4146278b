import { SECTION_FIELDS } from "../../src/config/agent-file/agent-file-schema.ts";
import { MODEL_FIELDS } from "../../src/config/agent-file/fields/model.ts";
import { PROFILE_FIELDS } from "../../src/config/agent-file/fields/profile.ts";
import { MODE_LIMIT_FIELDS } from "../../src/config/agent-file/resolve-mode.ts";
import {
  addSubAgents,
  buildFallbacks,
  buildPrompt,
  buildSchemaValue,
  type FileTable,
  writeFields,
  writeTable,
} from "../../src/config/agent-file/write-agent.ts";
import type { SourceFormat } from "../../src/config/source/source-format.ts";
import { omitUndefined } from "../../src/platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../src/schema/definition.ts";
import { JobLimits, type WorkMode } from "../../src/schema/mode.ts";

/** Writes a file for a mode with all of its agents. Defaults of agents are left out. */
export function writeMode(mode: WorkMode, format: SourceFormat): string {
  const file = new ModeFileWriter();
  const table = file.buildModeTable(mode);
  return writeTable(file.buildFile(table), format);
}

const LIMITS = { limits: JobLimits.parse({}) };
const WITHOUT_NAME = PROFILE_FIELDS.filter(({ target }) => target[0] !== "name");

class ModeFileWriter {
  readonly #instances: FileTable[] = [];
  readonly #subAgents: FileTable[] = [];
  #first: AgentDefinition | undefined;

  buildFile(mode: FileTable): FileTable {
    return {
      agent: { instances: this.#instances },
      provider: writeFields(MODEL_FIELDS, this.#first ?? {}),
      ...(this.#subAgents.length === 0 ? {} : { sub_agents: { instances: this.#subAgents } }),
      mode,
    };
  }

  buildModeTable(mode: WorkMode): FileTable {
    const { type } = mode;
    const limits = "limits" in mode ? writeFields(MODE_LIMIT_FIELDS, mode, LIMITS) : {};
    switch (mode.type) {
      case "interactive": {
        const { idleTimeoutMs } = mode;
        return {
          type,
          agent: this.#addAgent(mode.agent),
          idle_timeout_secs: formatOrNone(idleTimeoutMs, 1000),
        };
      }
      case "autonomous": {
        const { maxRounds, maxIdleRounds } = mode;
        const rounds = { max_rounds: formatOrNone(maxRounds, 1), max_idle_rounds: maxIdleRounds };
        return { type, agent: this.#addAgent(mode.agent), ...rounds, ...limits };
      }
      case "pipeline": {
        const stages = mode.stages.map(({ name, agent, prompt, input }) => ({
          name,
          agent: this.#addAgent(agent),
          ...omitUndefined({ prompt }),
          ...(input === undefined ? {} : { input: buildSchemaValue(input) }),
        }));
        return { type, stages, ...limits };
      }
      case "fan-out": {
        const { tasks, concurrency, reducer } = mode;
        const agents = mode.agents.map((agent) => this.#addAgent(agent));
        return { type, agents, ...omitUndefined({ tasks }), concurrency, reducer, ...limits };
      }
      case "supervisor": {
        const names = mode.agents.map(({ name }) => name);
        const agents = mode.agents.map(({ name, agent }) => this.#addAgent(agent, name));
        const lead = this.#addAgent(mode.lead, chooseLeadId(names));
        return { type, agent: lead, agents, max_agents: mode.maxAgents, ...limits };
      }
    }
  }

  /** @returns The agent's name in the file. */
  #addAgent(definition: AgentDefinition, id = `agent-${this.#instances.length + 1}`): string {
    this.#first ??= definition;
    const instance: FileTable = {};
    this.#instances.push(instance);
    const profile = writeFields(WITHOUT_NAME, definition);
    Object.assign(instance, {
      id,
      name: definition.name,
      ...(Object.keys(profile).length === 0 ? {} : { profile }),
      ...buildPrompt(definition),
      workspace: definition.workspace ?? "none",
      sub_agents: addSubAgents(definition, this.#subAgents) ?? "none",
      provider: writeFields(MODEL_FIELDS, definition),
      ...buildFallbacks(definition),
      ...writeFields(SECTION_FIELDS, definition),
    });
    return id;
  }
}

function chooseLeadId(usedIds: readonly string[]): string {
  let id = "lead";
  while (usedIds.includes(id)) id += "-";
  return id;
}

function formatOrNone(value: number | null, unit: number): number | "none" {
  return value === null ? "none" : value / unit;
}
