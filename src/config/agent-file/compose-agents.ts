import { isObject, type JsonObject } from "../../platform/text/json.ts";
import type { Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import { SUB_AGENT_CALL_FIELDS } from "./agent-file-schema.ts";
import { Draft, type Layer } from "./draft.ts";
import { type Declaration, draftAgent } from "./draft-agent.ts";
import { PROFILE_FIELDS } from "./fields/profile.ts";
import type { Entity } from "./resolve-references.ts";
import { getListAt, getTextAt } from "./table-paths.ts";

// Composes drafts of definitions from the tables of a file. The result depends only on the file's values, and on the
// prompt files that the given reader returns.

export type AgentDraft = { readonly name: string; readonly draft: Draft };

const NO_NAME = "unnamed";
const TITLE_FIELDS = PROFILE_FIELDS.filter(
  ({ target }) => target[0] === "name" || target[0] === "description",
);
const SUB_AGENT_NAME_FIELD = TITLE_FIELDS.filter(({ target }) => target[0] === "name");
const DESCRIPTION = TITLE_FIELDS.filter(({ target }) => target[0] === "description");

/** Composes every agent of a file (CFG-07). */
export function composeAgents(loader: AgentFileLoader): readonly AgentDraft[] {
  const declared = getListAt(loader.value, ["agent", "instances"]);
  if (declared.length === 0) return [composeSingleAgent(loader)];
  const agents = declared.flatMap((table, index) =>
    isObject(table) ? [composeInstance(loader, table, index)] : [],
  );
  const usedNames = new Set<string>();
  for (const [index, { name }] of agents.entries()) {
    if (usedNames.has(name)) {
      loader.reportError(
        ["agent", "instances", index],
        `another agent above has the name "${name}"`,
        "a name of its own",
        name,
      );
    }
    usedNames.add(name);
  }
  return agents;
}

const AGENT: Path = ["agent"];
const PROFILE: Path = ["agent", "profile"];

function createLayer(loader: AgentFileLoader, path: Path): Layer {
  let value: unknown = loader.value;
  for (const step of path) value = isObject(value) ? value[step] : undefined;
  return { path, value };
}

/** Composes the single agent of [agent] and its profile. */
function composeSingleAgent(loader: AgentFileLoader): AgentDraft {
  const [root, agent, profile] = [
    createLayer(loader, []),
    createLayer(loader, AGENT),
    createLayer(loader, PROFILE),
  ];
  const draft = draftAgent(loader, {
    path: AGENT,
    value: { provider: undefined },
    profiles: [profile],
    sections: [root],
    fallbacks: [agent],
    prompts: [agent, profile],
    workspaces: [agent, profile, root],
    sandboxes: [root],
  });
  draft.applyFields(TITLE_FIELDS, [profile]);
  applySubAgents(loader, draft, [agent], []);
  return { name: (draft.get(["name"]) as string | undefined) ?? "agent", draft };
}

function composeInstance(loader: AgentFileLoader, table: JsonObject, index: number): AgentDraft {
  const path = [...AGENT, "instances", index];
  const own: Layer = { path, value: table };
  const [root, agent] = [createLayer(loader, []), createLayer(loader, AGENT)];
  const profiles = [
    { path: [...path, "profile"], value: table["profile"] },
    ...resolveProfile(loader, own),
    createLayer(loader, PROFILE),
  ];
  const draft = draftAgent(loader, {
    path,
    value: table,
    profiles,
    sections: [own, root],
    fallbacks: [own, agent],
    prompts: [own, agent, ...profiles],
    workspaces: [own, agent, profiles[0]!, createLayer(loader, PROFILE), root],
    sandboxes: [own, root],
  });
  draft.applyFields(SUB_AGENT_NAME_FIELD, [own]);
  draft.applyFields(DESCRIPTION, profiles);
  if (draft.get(["name"]) === undefined) draft.set(["name"], NO_NAME, { type: "default" });
  applySubAgents(loader, draft, [own, agent], []);
  return { name: getTextAt(table, ["id"]) ?? (draft.get(["name"]) as string), draft };
}

function resolveProfile(loader: AgentFileLoader, { path, value }: Layer): readonly Layer[] {
  const name = getTextAt(value, ["agent_profile"]);
  if (name === undefined) return [];
  const entity = loader.references.resolve(name, "agent_profile", [...path, "agent_profile"]);
  if (entity === undefined) return [];
  return [{ path: entity.path, value: entity.table, suppliedBy: `agent_profile ${entity.name}` }];
}

/**
 * @param layers - Tables that may list sub-agents. Without a list an agent has all of the file, a sub-agent none.
 * @param above - The chain of sub-agents that contain this one.
 */
function applySubAgents(
  loader: AgentFileLoader,
  draft: Draft,
  layers: readonly Layer[],
  above: readonly Entity[],
): void {
  const all = loader.references.listEntities("sub_agent");
  const chosen = layers.find(({ value }) => isObject(value) && value["sub_agents"] !== undefined);
  if (getTextAt(chosen?.value, ["sub_agents"]) === "none") return;
  if (chosen === undefined && (above.length > 0 || all.length === 0)) return;
  const entities = chosen === undefined ? all : resolveEntities(loader, chosen);
  draft.set(
    ["subAgents"],
    [],
    chosen === undefined ? { type: "default", note: "all of the file" } : isFromFile(chosen),
  );
  for (const [index, entity] of entities.entries()) {
    if (above.includes(entity)) {
      const cycle = [...above.slice(above.indexOf(entity)), entity].map(({ name }) => name).join(" → ");
      loader.reportError(
        [...entity.path, "sub_agents"],
        `these sub-agents call each other in a cycle: ${cycle}`,
        "sub-agents without a cycle",
      );
      continue;
    }
    draft.addDraft(["subAgents", index], draftSubAgent(loader, entity, [...above, entity]));
  }
}

function isFromFile({ path }: Layer) {
  return { type: "file", path: [...path, "sub_agents"] } as const;
}

function resolveEntities(loader: AgentFileLoader, { path, value }: Layer): readonly Entity[] {
  return getListAt(value, ["sub_agents"]).flatMap((name, index) => {
    if (typeof name !== "string") return [];
    const entity = loader.references.resolve(name, "sub_agent", [...path, "sub_agents", index]);
    return entity === undefined ? [] : [entity];
  });
}

/** Drafts a sub-agent. It inherits only workspace and sandbox: other absent values are the format's defaults (SUB-12). */
function draftSubAgent(loader: AgentFileLoader, entity: Entity, above: readonly Entity[]): Draft {
  const { path, table } = entity;
  const own: Layer = { path, value: table };
  const draft = new Draft();
  const name = getTextAt(table, ["name"]) ?? entity.name;
  const nameOrigin = { type: "file", path: [...path, table["name"] === undefined ? "id" : "name"] } as const;
  draft.set(["name"], name, nameOrigin);
  draft.applyFields(DESCRIPTION, [own]);
  draft.applyFields(SUB_AGENT_CALL_FIELDS, [own]);
  const base = resolveProfile(loader, own);
  const profiles = [own, ...base, ...(base.length === 0 ? [] : [createLayer(loader, PROFILE)])];
  const agent = draftAgent(loader, createDeclaration(own, table, profiles, createLayer(loader, [])));
  const agentName = getTextAt(table, ["agent_name"]);
  agent.set(
    ["name"],
    agentName ?? name,
    agentName === undefined ? nameOrigin : { type: "file", path: [...path, "agent_name"] },
  );
  const description = getTextAt(table, ["agent_description"]);
  if (description !== undefined) {
    agent.set(["description"], description, { type: "file", path: [...path, "agent_description"] });
  }
  applySubAgents(loader, agent, [own], above);
  draft.addDraft(["agent"], agent);
  return draft;
}

function createDeclaration(
  own: Layer,
  table: JsonObject,
  profiles: readonly Layer[],
  root: Layer,
): Declaration {
  return {
    path: own.path,
    value: table,
    profiles,
    sections: [own],
    fallbacks: [own],
    prompts: profiles,
    workspaces: [own, root],
    sandboxes: [own, root],
  };
}
