import type { Path } from "../source/node.ts";
import { type Declaration, draftOf } from "./agent.ts";
import { Draft, type Layer } from "./draft.ts";
import { PROFILE_FIELDS } from "./fields/profile.ts";
import type { Entity } from "./references.ts";
import { SUB_AGENT_LIMIT_FIELDS } from "./schema.ts";
import { isTable, listAt, type Table, textAt } from "./table.ts";
import type { Workbench } from "./workbench.ts";

// From the tables of a file to drafts of definitions. Everything is made from the values alone; prompts that lie in
// files come from the reader that was passed in.

export type AgentDraft = { readonly name: string; readonly draft: Draft };

const NO_NAME = "unnamed";
const TITLE_FIELDS = PROFILE_FIELDS.filter(({ to }) => to[0] === "name" || to[0] === "description");
const OWN_NAME = TITLE_FIELDS.filter(({ to }) => to[0] === "name");
const DESCRIPTION = TITLE_FIELDS.filter(({ to }) => to[0] === "description");

/** Every agent of a file (CFG-07). */
export function agentsOf(bench: Workbench): readonly AgentDraft[] {
  const declared = listAt(bench.value, ["agent", "instances"]);
  if (declared.length === 0) return [singleAgent(bench)];
  const agents = declared.flatMap((table, index) => (isTable(table) ? [instance(bench, table, index)] : []));
  const seen = new Set<string>();
  for (const [index, { name }] of agents.entries()) {
    if (seen.has(name)) {
      bench.wrong(
        ["agent", "instances", index],
        `there is another agent "${name}" above`,
        "a name of its own",
        name,
      );
    }
    seen.add(name);
  }
  return agents;
}

const AGENT: Path = ["agent"];
const PROFILE: Path = ["agent", "profile"];

function layer(bench: Workbench, path: Path): Layer {
  let value: unknown = bench.value;
  for (const step of path) value = isTable(value) ? value[step] : undefined;
  return { path, value };
}

/** One agent of [agent] and its profile. */
function singleAgent(bench: Workbench): AgentDraft {
  const [root, agent, profile] = [layer(bench, []), layer(bench, AGENT), layer(bench, PROFILE)];
  const draft = draftOf(bench, {
    path: AGENT,
    value: { provider: undefined },
    profiles: [profile],
    sections: [root],
    fallbacks: [agent],
    prompts: [agent, profile],
    workspaces: [agent, profile, root],
  });
  draft.take(TITLE_FIELDS, [profile]);
  takeSubAgents(bench, draft, [agent], []);
  return { name: (draft.get(["name"]) as string | undefined) ?? "agent", draft };
}

function instance(bench: Workbench, table: Table, index: number): AgentDraft {
  const path = [...AGENT, "instances", index];
  const own: Layer = { path, value: table };
  const [root, agent] = [layer(bench, []), layer(bench, AGENT)];
  const profiles = [
    { path: [...path, "profile"], value: table["profile"] },
    ...namedProfile(bench, own),
    layer(bench, PROFILE),
  ];
  const draft = draftOf(bench, {
    path,
    value: table,
    profiles,
    sections: [own, root],
    fallbacks: [own, agent],
    prompts: [own, agent, ...profiles],
    workspaces: [own, agent, profiles[0]!, layer(bench, PROFILE), root],
  });
  draft.take(OWN_NAME, [own]);
  draft.take(DESCRIPTION, profiles);
  if (draft.get(["name"]) === undefined) draft.set(["name"], NO_NAME, { type: "default" });
  takeSubAgents(bench, draft, [own, agent], []);
  return { name: textAt(table, ["id"]) ?? (draft.get(["name"]) as string), draft };
}

function namedProfile(bench: Workbench, { path, value }: Layer): readonly Layer[] {
  const name = textAt(value, ["agent_profile"]);
  if (name === undefined) return [];
  const entity = bench.references.resolve(name, "agent_profile", [...path, "agent_profile"]);
  if (entity === undefined) return [];
  return [{ path: entity.path, value: entity.table, via: `agent_profile ${entity.name}` }];
}

/**
 * @param layers - Tables that may choose; without a choice an agent has all of the file, and a sub-agent none.
 * @param above - The sub-agents that this one stands in.
 */
function takeSubAgents(
  bench: Workbench,
  draft: Draft,
  layers: readonly Layer[],
  above: readonly Entity[],
): void {
  const all = bench.references.in("sub_agent");
  const chosen = layers.find(({ value }) => isTable(value) && value["sub_agents"] !== undefined);
  if (textAt(chosen?.value, ["sub_agents"]) === "none") return;
  if (chosen === undefined && (above.length > 0 || all.length === 0)) return;
  const entities = chosen === undefined ? all : resolved(bench, chosen);
  draft.set(
    ["subAgents"],
    [],
    chosen === undefined ? { type: "default", note: "all of the file" } : fromFile(chosen),
  );
  for (const [index, entity] of entities.entries()) {
    if (above.includes(entity)) {
      const round = [...above.slice(above.indexOf(entity)), entity].map(({ name }) => name).join(" → ");
      bench.wrong(
        [...entity.path, "sub_agents"],
        `these sub-agents go round in a circle: ${round}`,
        "an end",
      );
      continue;
    }
    draft.embed(["subAgents", index], subAgent(bench, entity, [...above, entity]));
  }
}

function fromFile({ path }: Layer) {
  return { type: "file", path: [...path, "sub_agents"] } as const;
}

function resolved(bench: Workbench, { path, value }: Layer): readonly Entity[] {
  return listAt(value, ["sub_agents"]).flatMap((name, index) => {
    if (typeof name !== "string") return [];
    const entity = bench.references.resolve(name, "sub_agent", [...path, "sub_agents", index]);
    return entity === undefined ? [] : [entity];
  });
}

/** A sub-agent inherits nothing: what its table does not say is the format's default (SUB-12). */
function subAgent(bench: Workbench, entity: Entity, above: readonly Entity[]): Draft {
  const { path, table } = entity;
  const own: Layer = { path, value: table };
  const draft = new Draft();
  const name = textAt(table, ["name"]) ?? entity.name;
  const nameOrigin = { type: "file", path: [...path, table["name"] === undefined ? "id" : "name"] } as const;
  draft.set(["name"], name, nameOrigin);
  draft.take(DESCRIPTION, [own]);
  draft.take(SUB_AGENT_LIMIT_FIELDS, [own]);
  const base = namedProfile(bench, own);
  const profiles = [own, ...base, ...(base.length === 0 ? [] : [layer(bench, PROFILE)])];
  const agent = draftOf(bench, declarationOf(own, table, profiles, layer(bench, [])));
  const agentName = textAt(table, ["agent_name"]);
  agent.set(
    ["name"],
    agentName ?? name,
    agentName === undefined ? nameOrigin : { type: "file", path: [...path, "agent_name"] },
  );
  const description = textAt(table, ["agent_description"]);
  if (description !== undefined) {
    agent.set(["description"], description, { type: "file", path: [...path, "agent_description"] });
  }
  takeSubAgents(bench, agent, [own], above);
  draft.embed(["agent"], agent);
  return draft;
}

function declarationOf(own: Layer, table: Table, profiles: readonly Layer[], root: Layer): Declaration {
  return {
    path: own.path,
    value: table,
    profiles,
    sections: [own],
    fallbacks: [own],
    prompts: profiles,
    workspaces: [own, root],
  };
}
