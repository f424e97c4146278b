import type { AgentDefinition } from "../../schema/definition.ts";

/** The resources that a definition uses: what a user should know before an agent from elsewhere runs here. */
export type DefinitionSummary = {
  /** The name of the agent. */
  readonly name: string;
  /** The id of the model. */
  readonly model: string;
  /** The folder in which its tools work; absent: the worker's default. */
  readonly workspace?: string;
  /** The names of its tools. */
  readonly tools: readonly string[];
  /** The programs that the worker starts for it: MCP servers and hooks. */
  readonly programs: readonly string[];
  /** Every http(s) address in the definition. */
  readonly addresses: readonly string[];
  /** The names in `${NAME}`: values of the worker's environment that the definition receives. */
  readonly references: readonly string[];
  /** What its permission rules decide, in words. */
  readonly permissions: string;
};

/** The maximum entries of one list, so that a forged definition cannot fill a terminal. */
const MAX_LISTED = 20;
const MAX_CHARS = 200;
/** A definition is a few levels deep; deeper values are not inspected. */
const MAX_DEPTH = 100;

export function summariseDefinition(definition: AgentDefinition): DefinitionSummary {
  const texts = findTexts(definition);
  const { name, model, workspace, tools, permissions, openapi = [], mcp = [], subAgents = [] } = definition;
  const rules = permissions?.rules ?? [];
  return {
    name: shortenText(name),
    model: shortenText(`${model.provider}/${model.id}`),
    ...(workspace === undefined ? {} : { workspace: shortenText(workspace) }),
    tools: limitList([
      ...(tools ?? []),
      ...mcp.map((server) => `MCP server ${server.name}`),
      ...openapi.map((api) => `API ${api.name}`),
      ...subAgents.map((agent) => `agent ${agent.name}`),
    ]),
    programs: limitList(findPrograms(definition)),
    addresses: limitList(texts.filter((text) => /^https?:\/\//i.test(text))),
    references: limitList(
      texts.flatMap((text) => [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, found]) => found!)),
    ),
    permissions: `${rules.length} ${rules.length === 1 ? "rule" : "rules"}, otherwise ${permissions?.otherwise ?? "ask-unsafe"}`,
  };
}

/** Formats a summary as one line per kind of resource. */
export function formatSummaryLines(summary: DefinitionSummary): readonly string[] {
  const { name, model, workspace, tools, programs, addresses, references, permissions } = summary;
  const list = (what: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`${what}: ${values.join(", ")}`];
  return [
    `agent ${name}, model ${model}`,
    `workspace: ${workspace ?? "none"}`,
    ...list("tools", tools),
    ...list("starts programs", programs),
    ...list("addresses", addresses),
    ...list("reads from the worker's environment", references),
    `permissions: ${permissions}`,
  ];
}

/** Returns the commands of MCP servers and hooks, those of sub-agents included. */
function findPrograms(value: unknown, depth = 0): readonly string[] {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
  const { command, args } = value as { command?: unknown; args?: unknown };
  const own =
    typeof command === "string"
      ? [[command, ...(Array.isArray(args) ? args : [])].join(" ")]
      : Array.isArray(command)
        ? [command.join(" ")]
        : [];
  // Policy rules also contain commands, but these are not started.
  const rest = Object.entries(value).filter(([key]) => key !== "rules");
  return [...own, ...rest.flatMap(([, child]) => findPrograms(child, depth + 1))];
}

function findTexts(value: unknown, depth = 0): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
  return Object.values(value).flatMap((child) => findTexts(child, depth + 1));
}

function limitList(values: readonly string[]): readonly string[] {
  const all = [...new Set(values.map(shortenText))];
  return all.length <= MAX_LISTED
    ? all
    : [...all.slice(0, MAX_LISTED), `and ${all.length - MAX_LISTED} more`];
}

function shortenText(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS)}…`;
}
