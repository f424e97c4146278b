import { ContextConfig } from "../../schema/context.ts";
import { AgentDefinition, type SubAgent, SubAgentLimits } from "../../schema/definition.ts";
import { escapeReferences } from "../source/environment.ts";
import type { Format } from "../source/format.ts";
import { put } from "../source/node.ts";
import { writeJson, writeToml, writeYaml } from "../source/write-formats.ts";
import type { Field } from "./field.ts";
import { DEFAULT_CONTEXT_WINDOW, MODEL_FIELDS } from "./fields/model.ts";
import { MANNER_FIELDS, PROFILE_FIELDS } from "./fields/profile.ts";
import { isReference } from "./references.ts";
import { SECTION_FIELDS, SUB_AGENT_LIMIT_FIELDS } from "./schema.ts";
import { at, isTable } from "./table.ts";
import { isSecretField } from "./validate.ts";

const WRITERS = {
  toml: writeToml,
  yaml: writeYaml,
  json: writeJson,
} as const satisfies Record<Format, (table: Record<string, unknown>) => string>;

/** A file that means this definition, and gives the same hash when it is read. Defaults are left out. */
export function writeAgent(definition: AgentDefinition, format: Format): string {
  return writeTable(fileOf(definition), format);
}

/** A file of these sections; whatever looks like a variable stays what it is. */
export function writeTable(file: Written, format: Format): string {
  return WRITERS[format](escaped(file, []) as Written);
}

export type Written = Record<string, unknown>;

/** What a file need not say. */
const DEFAULTS = {
  ...AgentDefinition.parse({
    model: {
      id: "-",
      api: "anthropic_messages",
      provider: "-",
      baseUrl: "http://-",
      contextWindow: DEFAULT_CONTEXT_WINDOW,
    },
  }),
  // A context is there when its size is said.
  context: { ...ContextConfig.parse({}), maxContextTokens: undefined },
  workspace: undefined,
};
/** What another machine's catalogue might say otherwise stands in the file. */
const ALWAYS = [
  ...["id", "api", "provider", "baseUrl", "reasoning", "contextWindow", "maxTokens"].map(
    (key) => `model.${key}`,
  ),
  ...["", ".input", ".output", ".cacheRead", ".cacheWrite"].map((key) => `model.cost${key}`),
];

function fileOf(definition: AgentDefinition): Written {
  const instances: Written[] = [];
  const profile = written(PROFILE_FIELDS, definition);
  const names = subAgentNames(definition, instances);
  const agent = {
    ...promptOf(definition),
    workspace: definition.workspace ?? "none",
    ...fallbacksOf(definition),
    ...(names === undefined ? {} : { sub_agents: names }),
    ...(Object.keys(profile).length === 0 ? {} : { profile }),
  };
  return {
    agent,
    provider: written(MODEL_FIELDS, definition),
    ...written(SECTION_FIELDS, definition),
    ...(instances.length === 0 ? {} : { sub_agents: { instances } }),
  };
}

/** @param instances - Where those of all levels are put; each is named once. */
export function subAgentNames(
  { subAgents }: AgentDefinition,
  instances: Written[],
): readonly string[] | undefined {
  return subAgents?.map((subAgent) => {
    const entry: Written = {};
    instances.push(entry);
    const id = `agent-${instances.length}`;
    Object.assign(entry, { id, ...entryOf(subAgent, instances) });
    return `{{sub_agent.${id}}}`;
  });
}

function entryOf({ name, description, limits, agent }: SubAgent, instances: Written[]): Written {
  const names = subAgentNames(agent, instances);
  return {
    name,
    ...(description === "" ? {} : { description }),
    ...written(SUB_AGENT_LIMIT_FIELDS, { limits }, { limits: SubAgentLimits.parse({}) }),
    ...(agent.name === name ? {} : { agent_name: agent.name }),
    ...(agent.description === undefined ? {} : { agent_description: agent.description }),
    ...promptOf(agent),
    workspace: agent.workspace ?? "none",
    ...(names === undefined ? {} : { sub_agents: names }),
    ...written(MANNER_FIELDS, agent),
    provider: written(MODEL_FIELDS, agent),
    ...fallbacksOf(agent),
    ...written(SECTION_FIELDS, agent),
  };
}

export function fallbacksOf({ fallbacks }: AgentDefinition): Written {
  if (fallbacks === undefined) return {};
  return { fallbacks: fallbacks.map((model) => written(MODEL_FIELDS, { model })) };
}

export function promptOf({ systemPrompt }: AgentDefinition): Written {
  if (systemPrompt === "") return {};
  const looksSpecial = systemPrompt.startsWith("file:") || isReference(systemPrompt);
  return { system_prompt: looksSpecial ? { text: systemPrompt } : systemPrompt };
}

export function written(fields: readonly Field[], definition: object, defaults: object = DEFAULTS): Written {
  const table: Written = {};
  for (const { places, to, write } of fields) {
    const value = at(definition, to);
    if (value === undefined) continue;
    if (!ALWAYS.includes(to.join(".")) && JSON.stringify(value) === JSON.stringify(at(defaults, to)))
      continue;
    const said = to.join(".") === "output.schema" ? schemaOf(value) : write(value);
    if (said === undefined) continue;
    const [place] = places;
    let holder = table;
    for (const key of place!.slice(0, -1)) {
      if (!isTable(holder[key])) holder[key] = {};
      holder = holder[key] as Written;
    }
    holder[place!.at(-1)!] = said;
  }
  return table;
}

/** TOML knows no null: a schema that has one goes as JSON in a text. */
export function schemaOf(schema: unknown): unknown {
  const text = JSON.stringify(schema);
  return JSON.stringify(schema, (_, value) => (value === null ? undefined : value)) === text &&
    !text.includes("null")
    ? schema
    : text;
}

function escaped(value: unknown, path: readonly (string | number)[]): unknown {
  if (typeof value === "string") return isSecretField(path) ? value : escapeReferences(value);
  if (Array.isArray(value)) return value.map((member, index) => escaped(member, [...path, index]));
  if (!isTable(value)) return value;
  const table: Written = {};
  for (const [key, member] of Object.entries(value)) put(table, key, escaped(member, [...path, key]));
  return table;
}
