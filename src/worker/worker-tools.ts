import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { SecretSource } from "../models/secrets.ts";
import type { Logger } from "../platform/log.ts";
import { createAllowHostTool } from "../tools/builtin/allow-host-tool.ts";
import { createUnsandboxedBashTool } from "../tools/builtin/bash-tool.ts";
import { createDefaultTools, type DefaultToolOptions } from "../tools/builtin/default-tools.ts";
import { createLoopEndTools } from "../tools/builtin/loop-end-tools.ts";
import { createNextRoundTools } from "../tools/builtin/next-round-tools.ts";
import { createReadFullMessageTool } from "../tools/builtin/read-full-message-tool.ts";
import { createTeamTools } from "../tools/builtin/team-tools.ts";
import { createViewTools } from "../tools/builtin/view-tools.ts";
import type { Sandboxes } from "../tools/sandbox/sandboxes.ts";
import { McpSource } from "../tools/sources/mcp/mcp-source.ts";
import { OpenApiSource } from "../tools/sources/openapi/open-api-source.ts";
import { SkillSource } from "../tools/sources/skills/skill-source.ts";
import type { ToolSource } from "../tools/sources/tool-source.ts";
import type { Tool } from "../tools/tool.ts";
import type { HoldfastWorkerOptions } from "./options.ts";

/**
 * Lists all tools of a worker: the built-in ones and the application's own. A tool of the application replaces a
 * built-in one of the same name, so that a new built-in tool does not break a worker that already has a tool of that
 * name.
 */
export function listTools(
  { builtInTools, tools = [] }: Pick<HoldfastWorkerOptions, "builtInTools" | "tools">,
  log: Pick<Logger, "warn">,
): readonly Tool[] {
  const isOwn = ({ name }: Tool) => tools.some((tool) => tool.name === name);
  const ours = [
    ...listBuiltInTools(builtInTools),
    ...createNextRoundTools(),
    ...createLoopEndTools(),
    createReadFullMessageTool(),
    createAllowHostTool(),
  ];
  const team = createTeamTools();
  // The tools of a lead belong together: an application that provides one of them must provide the others.
  const all = [...ours.filter((tool) => !isOwn(tool)), ...tools, ...(team.some(isOwn) ? [] : team)];
  for (const { name } of [...ours, ...team].filter(isOwn)) {
    log.warn({ tool: name }, `The tool "${name}" of the application replaces the built-in tool of that name`);
  }
  return all;
}

function listBuiltInTools(wanted: boolean | DefaultToolOptions = true): readonly Tool[] {
  if (wanted === false) return [];
  const options = wanted === true ? {} : wanted;
  return [...createDefaultTools(options), createUnsandboxedBashTool(options.bash), ...createViewTools()];
}

type SourceDependencies = {
  readonly sandboxes: Sandboxes;
  readonly secrets: SecretSource;
  readonly log: Logger;
};

/**
 * Lists the sources of tools that no worker has itself: the built-in ones, and the application's own, which replace
 * built-in ones.
 */
export function listSources(
  { sources = [] }: Pick<HoldfastWorkerOptions, "sources">,
  { sandboxes, secrets, log }: SourceDependencies,
): readonly ToolSource[] {
  const ours: readonly ToolSource[] = [
    new McpSource({
      sandboxes,
      secrets,
      log,
      version: readPackageVersion(),
      elicit: ({ askUser }) => askUser,
    }),
    new OpenApiSource({ secrets }),
    new SkillSource(),
  ];
  return [...ours.filter(({ kind }) => !sources.some((source) => source.kind === kind)), ...sources];
}

/** Loads an application's tools from a module whose default export is a tool or a list of tools. */
export async function loadTools(file: string): Promise<Tool[]> {
  const module = (await import(pathToFileURL(file).href)) as { default?: Tool | Tool[] };
  if (module.default === undefined)
    throw new TypeError(`${file} has no default export: export a tool or a list of tools`);
  return [module.default].flat();
}

/** Reads the version that servers receive. */
function readPackageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
