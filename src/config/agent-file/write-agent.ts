import { isObject } from "../../platform/text/json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { ContextConfig } from "../../schema/context.ts";
import { AgentDefinition, type SubAgent } from "../../schema/definition.ts";
import { SubAgentLimits } from "../../schema/limits.ts";
import type { SourceFormat } from "../source/source-format.ts";
import { setOwnKey } from "../source/source-node.ts";
import { escapeReferences } from "../source/variable-placeholders.ts";
import { writeJson, writeToml, writeYaml } from "../source/write-formats.ts";
import { SECTION_FIELDS, SUB_AGENT_CALL_FIELDS } from "./agent-file-schema.ts";
import type { Field } from "./define-field.ts";
import { DEFAULT_CONTEXT_WINDOW, MODEL_FIELDS } from "./fields/model.ts";
import { PROFILE_FIELDS, SAMPLING_FIELDS } from "./fields/profile.ts";
import { WORKER_SANDBOX } from "./fields/sandbox.ts";
import { isReference } from "./resolve-references.ts";
import { getAt } from "./table-paths.ts";
import { isSecretField } from "./validate-file.ts";

const WRITERS = {
  toml: writeToml,
  yaml: writeYaml,
  json: writeJson,
} as const satisfies Record<SourceFormat, (table: Record<string, unknown>) => string>;

/** Writes a file for a definition. Reading it gives the same hash. Defaults are left out. */
export function writeAgent(definition: AgentDefinition, format: SourceFormat): string {
  return writeTable(buildFile(definition), format);
}

/** Writes a file of these sections. Text that looks like a reference to a variable is escaped. */
export function writeTable(file: FileTable, format: SourceFormat): string {
  return WRITERS[format](escapeReferencesIn(file, []) as FileTable);
}

export type FileTable = Record<string, unknown>;

/** Values that a file can leave out. */
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
  // A context exists only if its size is given.
  context: { ...ContextConfig.parse({}), maxContextTokens: undefined },
  workspace: undefined,
};
/** Fields that the file always contains, because another machine's catalogue may differ. */
const ALWAYS = [
  ...["id", "api", "provider", "baseUrl", "reasoning", "contextWindow", "maxTokens"].map(
    (key) => `model.${key}`,
  ),
  ...["", ".input", ".output", ".cacheRead", ".cacheWrite"].map((key) => `model.cost${key}`),
];

function buildFile(definition: AgentDefinition): FileTable {
  const instances: FileTable[] = [];
  const profile = writeFields(PROFILE_FIELDS, definition);
  const names = addSubAgents(definition, instances);
  if (definition.sandbox !== undefined) {
    // Without a sandbox of its own, a sub-agent would inherit that of the file.
    for (const instance of instances) instance["sandbox"] ??= WORKER_SANDBOX;
  }
  const agent = {
    ...buildPrompt(definition),
    workspace: definition.workspace ?? "none",
    ...buildFallbacks(definition),
    ...omitUndefined({ sub_agents: names }),
    ...(Object.keys(profile).length === 0 ? {} : { profile }),
  };
  return {
    agent,
    provider: writeFields(MODEL_FIELDS, definition),
    ...writeFields(SECTION_FIELDS, definition),
    ...(instances.length === 0 ? {} : { sub_agents: { instances } }),
  };
}

/** @param instances - Collects the sub-agents of all levels; each has its own name. */
export function addSubAgents(
  { subAgents }: AgentDefinition,
  instances: FileTable[],
): readonly string[] | undefined {
  return subAgents?.map((subAgent) => {
    const entry: FileTable = {};
    instances.push(entry);
    const id = `agent-${instances.length}`;
    Object.assign(entry, { id, ...buildInstance(subAgent, instances) });
    return `{{sub_agent.${id}}}`;
  });
}

function buildInstance(
  { name, description, limits, acceptsMaxTurns, agent }: SubAgent,
  instances: FileTable[],
): FileTable {
  const names = addSubAgents(agent, instances);
  return {
    name,
    ...(description === "" ? {} : { description }),
    ...writeFields(SUB_AGENT_CALL_FIELDS, { limits, acceptsMaxTurns }, { limits: SubAgentLimits.parse({}) }),
    ...(agent.name === name ? {} : { agent_name: agent.name }),
    ...omitUndefined({ agent_description: agent.description }),
    ...buildPrompt(agent),
    workspace: agent.workspace ?? "none",
    ...omitUndefined({ sub_agents: names }),
    ...writeFields(SAMPLING_FIELDS, agent),
    provider: writeFields(MODEL_FIELDS, agent),
    ...buildFallbacks(agent),
    ...writeFields(SECTION_FIELDS, agent),
  };
}

export function buildFallbacks({ fallbacks }: AgentDefinition): FileTable {
  if (fallbacks === undefined) return {};
  return { fallbacks: fallbacks.map((model) => writeFields(MODEL_FIELDS, { model })) };
}

export function buildPrompt({ systemPrompt }: AgentDefinition): FileTable {
  if (systemPrompt === "") return {};
  const looksSpecial = systemPrompt.startsWith("file:") || isReference(systemPrompt);
  return { system_prompt: looksSpecial ? { text: systemPrompt } : systemPrompt };
}

export function writeFields(
  fields: readonly Field[],
  definition: object,
  defaults: object = DEFAULTS,
): FileTable {
  const table: FileTable = {};
  for (const { paths, target, write } of fields) {
    const value = getAt(definition, target);
    if (value === undefined) continue;
    if (
      !ALWAYS.includes(target.join(".")) &&
      JSON.stringify(value) === JSON.stringify(getAt(defaults, target))
    )
      continue;
    const current = target.join(".") === "output.schema" ? buildSchemaValue(value) : write(value);
    if (current === undefined) continue;
    const [path] = paths;
    let holder = table;
    for (const key of path!.slice(0, -1)) {
      if (!isObject(holder[key])) holder[key] = {};
      holder = holder[key] as FileTable;
    }
    holder[path!.at(-1)!] = current;
  }
  return table;
}

/** Returns a schema as a value, or as JSON text if it contains null, which TOML does not have. */
export function buildSchemaValue(schema: unknown): unknown {
  const text = JSON.stringify(schema);
  return JSON.stringify(schema, (_, value) => (value === null ? undefined : value)) === text &&
    !text.includes("null")
    ? schema
    : text;
}

function escapeReferencesIn(value: unknown, path: readonly (string | number)[]): unknown {
  if (typeof value === "string") return isSecretField(path) ? value : escapeReferences(value);
  if (Array.isArray(value)) return value.map((member, index) => escapeReferencesIn(member, [...path, index]));
  if (!isObject(value)) return value;
  const table: FileTable = {};
  for (const [key, member] of Object.entries(value))
    setOwnKey(table, key, escapeReferencesIn(member, [...path, key]));
  return table;
}
