import { isAbsolute, resolve } from "node:path";
import { isObject, type JsonObject } from "../../platform/text/json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { DEFAULT_SANDBOX_MODE } from "../sandbox.ts";
import type { Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import { applyFallbacks, applyModel } from "./apply-provider.ts";
import { Draft, type Layer } from "./draft.ts";
import { BATCH_SIZE, BEHAVIOR_FIELDS } from "./fields/behavior.ts";
import { COMPACTION_FIELDS } from "./fields/compaction.ts";
import { EXECUTION_FIELDS } from "./fields/execution.ts";
import { HOOK_FIELDS } from "./fields/hooks.ts";
import { MCP_FIELDS } from "./fields/mcp.ts";
import { OPENAPI_FIELDS } from "./fields/openapi.ts";
import { PROFILE_FIELDS, SAMPLING_FIELDS } from "./fields/profile.ts";
import { SANDBOX_FIELDS, WORKER_SANDBOX } from "./fields/sandbox.ts";
import { SKILL_FIELDS } from "./fields/skills.ts";
import { type PromptSource, readTextOrFile, resolveSystemPrompt } from "./resolve-prompt.ts";
import { getAt, getTextAt } from "./table-paths.ts";

/** The table that declares an agent, and the tables that supply missing values. */
export type Declaration = {
  readonly path: Path;
  readonly value: JsonObject;
  /** Profile tables, in order of precedence. */
  readonly profiles: readonly Layer[];
  /** Tables that contain sections, the agent's own first. */
  readonly sections: readonly Layer[];
  /** Tables that may specify fallback models, in order of precedence. */
  readonly fallbacks: readonly Layer[];
  /** Tables that may specify a prompt or a workspace, in order of precedence (CFG-08, CFG-12). */
  readonly prompts: readonly PromptSource[];
  readonly workspaces: readonly Layer[];
  /** Tables that may state a sandbox, in order of precedence. */
  readonly sandboxes: readonly Layer[];
};

/** Drafts an agent, except for its name and its sub-agents. */
export function draftAgent(loader: AgentFileLoader, declaration: Declaration): Draft {
  const draft = new Draft();
  applyModel(loader, draft, declaration);
  applyFallbacks(loader, draft, declaration.fallbacks);
  draft.applyFields(PROFILE_FIELDS.filter(isNotTitle), declaration.profiles);
  const { sections } = declaration;
  draft.applyFields(
    [
      ...BEHAVIOR_FIELDS,
      ...EXECUTION_FIELDS,
      ...HOOK_FIELDS,
      ...MCP_FIELDS,
      ...OPENAPI_FIELDS,
      ...SKILL_FIELDS,
    ],
    sections,
  );
  applyToolList(draft, sections);
  resolveToolStrategy(loader, draft);
  applyContext(loader, draft, declaration);
  const folder = applyWorkspace(loader, draft, declaration.workspaces);
  applyOutput(loader, draft, folder);
  const prompt = resolveSystemPrompt(loader, declaration.prompts, folder);
  if (prompt !== undefined) draft.set(["systemPrompt"], prompt.text, prompt.origin);
  applySkills(draft, declaration);
  applySandbox(draft, declaration.sandboxes);
  return draft;
}

/** Checks that a field is not a name or description: those of the profile's owner take precedence. */
function isNotTitle({ target }: { readonly target: Path }): boolean {
  return SAMPLING_FIELDS.some((manner) => manner.target === target);
}

/** Applies `tools = [ … ]` in an agent's own table. */
function applyToolList(draft: Draft, sections: readonly Layer[]): void {
  const first = sections.find(({ value }) => getAt(value, ["tools"]) !== undefined);
  const list = getAt(first?.value, ["tools"]);
  if (Array.isArray(list)) draft.set(["tools"], list, { type: "file", path: [...first!.path, "tools"] });
}

function resolveToolStrategy(loader: AgentFileLoader, draft: Draft): void {
  const type = draft.get(["toolStrategy", "type"]);
  const size = draft.get(["toolStrategy", "size"]);
  if (type === "batched") {
    if (size === undefined) draft.set(["toolStrategy", "size"], BATCH_SIZE, { type: "default" });
    return;
  }
  const origin = draft.origins.get("toolStrategy.size");
  if (origin?.type === "file") {
    loader.reportWarning(origin.path, 'this is not used: it applies only with tool_strategy = "batched"', {
      path: "key",
    });
  }
  if (type === undefined) draft.remove(["toolStrategy"]);
  else draft.remove(["toolStrategy", "size"]);
}

/** Applies compaction. It is off without `max_context_tokens`; a named variant precedes the section (CFG-21, CFG-22). */
function applyContext(
  loader: AgentFileLoader,
  draft: Draft,
  { path, value, profiles, sections }: Declaration,
): void {
  const layers = [...sections];
  const named = [{ path, value }, ...profiles].find(
    (layer) => getTextAt(layer.value, ["compaction"]) !== undefined,
  );
  if (named !== undefined) {
    const contextPath = [...named.path, "compaction"];
    const entity = loader.references.resolve(
      getTextAt(named.value, ["compaction"])!,
      "compaction",
      contextPath,
    );
    if (entity !== undefined) {
      const suppliedBy = `compaction ${entity.name}`;
      const own = sections.filter((layer) => layer.path.length > 0);
      const shared = sections.filter((layer) => layer.path.length === 0);
      layers.splice(
        0,
        layers.length,
        ...own,
        { path: entity.path, value: entity.table, suppliedBy, within: "compaction" },
        ...shared,
      );
    }
  }
  draft.applyFields(COMPACTION_FIELDS, layers);
  if (draft.get(["context", "maxContextTokens"]) !== undefined) return;
  const first = [...draft.origins].find(([to]) => to.startsWith("context."))?.[1];
  if (first?.type === "file") {
    loader.reportWarning(first.path, "compaction is off, so this is not used: add max_context_tokens", {
      path: "key",
    });
  }
  draft.remove(["context"]);
  draft.set(["context"], null, { type: "default", note: "compaction is off without max_context_tokens" });
}

function applyWorkspace(loader: AgentFileLoader, draft: Draft, layers: readonly Layer[]): string | undefined {
  const { cwd } = loader.environment;
  for (const { path, value, suppliedBy } of layers) {
    const key = path.length === 0 ? "default_workspace" : "workspace";
    const setting = getTextAt(value, [key]);
    if (setting === undefined) continue;
    if (setting === "none") return undefined;
    const folder = isAbsolute(setting) ? setting : resolve(cwd, setting);
    draft.set(["workspace"], folder, {
      type: "file",
      path: [...path, key],
      ...omitUndefined({ suppliedBy }),
    });
    return folder;
  }
  draft.set(["workspace"], cwd, { type: "default", note: "the current folder" });
  return cwd;
}

function applyOutput(loader: AgentFileLoader, draft: Draft, folder: string | undefined): void {
  const output = draft.get(["output"]);
  if (!isObject(output)) return;
  if (output["type"] === undefined) {
    const type = output["schema"] === undefined ? "json" : "json-schema";
    draft.set(["output", "type"], type, { type: "default" });
  }
  const { schema } = output;
  const origin = draft.origins.get("output.schema");
  if (typeof schema !== "string" || origin?.type !== "file") return;
  const { text, from } = readTextOrFile(loader, schema, origin.path, folder);
  try {
    draft.set(["output", "schema"], text === "" ? {} : JSON.parse(text), { ...origin, ...from });
  } catch (error) {
    draft.remove(["output"]);
    loader.reportError(origin.path, `this is not a JSON Schema: ${(error as Error).message}`, "JSON", schema);
  }
}

/** Applies skills if the agent lists some or a section [skills] exists, even an empty one. */
function applySkills(draft: Draft, { path, value, profiles, sections }: Declaration): void {
  const section = sections.find((layer) => isObject(getAt(layer.value, ["skills"])));
  if (section !== undefined && draft.get(["skills"]) === undefined) {
    draft.set(["skills"], {}, { type: "file", path: [...section.path, "skills"] });
  }
  for (const layer of [{ path, value }, ...profiles]) {
    const names = getAt(layer.value, ["skills"]);
    if (!Array.isArray(names)) continue;
    const skillsPath = { type: "file", path: [...layer.path, "skills"] } as const;
    draft.set(
      ["skills", "names"],
      names,
      layer.suppliedBy === undefined ? skillsPath : { ...skillsPath, suppliedBy: layer.suppliedBy },
    );
    return;
  }
}

/** Applies the nearest sandbox as a whole: what a sandbox allows is written in one place of the file. */
function applySandbox(draft: Draft, layers: readonly Layer[]): void {
  const layer = layers.find(({ value }) => getAt(value, ["sandbox"]) !== undefined);
  const stated = getAt(layer?.value, ["sandbox"]);
  if (layer === undefined || stated === WORKER_SANDBOX) return;
  if (!isObject(stated)) {
    draft.set(["sandbox", "mode"], stated, { type: "file", path: [...layer.path, "sandbox"] });
    return;
  }
  draft.applyFields(
    SANDBOX_FIELDS.filter(({ paths }) => paths[0]!.length > 1),
    [layer],
  );
  if (draft.get(["sandbox", "mode"]) === undefined)
    draft.set(["sandbox", "mode"], DEFAULT_SANDBOX_MODE, { type: "default" });
}
