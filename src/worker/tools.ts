import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { McpSource } from "../mcp/source.ts";
import type { Logger } from "../observability/log.ts";
import { OpenApiSource } from "../openapi/source.ts";
import type { SecretSource } from "../providers/secrets.ts";
import { SkillSource } from "../skills/skill-source.ts";
import { type DefaultToolOptions, defaultTools } from "../tools/default-tools.ts";
import type { ToolSource } from "../tools/outside/source.ts";
import { restTools } from "../tools/rest/rest-tools.ts";
import { teamTools } from "../tools/team/team-tools.ts";
import type { Tool } from "../tools/tool.ts";
import { readFullTool } from "../tools/view/read-full-message.ts";
import { viewTools } from "../tools/view/view-tools.ts";
import type { HoldfastWorkerOptions } from "./options.ts";

/** All tools of a worker: ours, and the application's own. */
export function toolsOf({
  builtInTools,
  tools = [],
}: Pick<HoldfastWorkerOptions, "builtInTools" | "tools">): readonly Tool[] {
  return withReader(withRest(withTeam([...builtIn(builtInTools), ...tools])));
}

function builtIn(wanted: boolean | DefaultToolOptions = true): readonly Tool[] {
  return wanted === false ? [] : [...defaultTools(wanted === true ? {} : wanted), ...viewTools()];
}

/** Where definitions have tools from that no worker has itself: ours, then the application's own in place of ours. */
export function sourcesOf(
  { sources = [] }: Pick<HoldfastWorkerOptions, "sources">,
  { secrets, log }: { readonly secrets: SecretSource; readonly log: Logger },
): readonly ToolSource[] {
  const ours: readonly ToolSource[] = [
    new McpSource({ secrets, log, version: packageVersion(), ask: ({ ask }) => ask }),
    new OpenApiSource({ secrets }),
    new SkillSource(),
  ];
  return [...ours.filter(({ kind }) => !sources.some((source) => source.kind === kind)), ...sources];
}

/** An application's own tools of these names go before ours: its leads are then without. */
function withTeam(tools: readonly Tool[]): readonly Tool[] {
  const ours = teamTools();
  return ours.some(({ name }) => tools.some((tool) => tool.name === name)) ? tools : [...tools, ...ours];
}

/** An application's own tools of these names go before ours. */
function withRest(tools: readonly Tool[]): readonly Tool[] {
  return [...tools, ...restTools().filter(({ name }) => !tools.some((tool) => tool.name === name))];
}

/** Where an application has a tool of this name, nothing reads what a view leaves out. */
function withReader(tools: readonly Tool[]): readonly Tool[] {
  const reader = readFullTool();
  return tools.some(({ name }) => name === reader.name) ? tools : [...tools, reader];
}

/** Tools of an application, from a module whose default export is a tool or a list of them. */
export async function loadTools(file: string): Promise<Tool[]> {
  const module = (await import(pathToFileURL(file).href)) as { default?: Tool | Tool[] };
  if (module.default === undefined)
    throw new TypeError(`${file} has no default export: export a tool or a list of tools`);
  return [module.default].flat();
}

/** As servers outside are told. */
function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
