import type { ToolFacts } from "../../core/machine/state/digest.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { type AgentDefinition, Delegation, type SubAgent } from "../../schema/definition.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/**
 * Builds the definition of a sub-agent: its own definition with the caller's name and limits for it, within the
 * caller's depth, and in the caller's sandbox unless it states its own.
 */
export function buildChildDefinition(
  caller: AgentDefinition,
  { name, limits, agent }: SubAgent,
): AgentDefinition {
  const { subAgents, delegation, ...rest } = agent;
  const below = getDelegation(caller).maxDepth - 1;
  // A task that an agent delegates has no more rights than the agent, unless its author says so.
  const named = { ...rest, ...omitUndefined({ sandbox: agent.sandbox ?? caller.sandbox }), name, limits };
  if (subAgents === undefined || below === 0) return named;
  const own = getDelegation(agent);
  return { ...named, subAgents, delegation: { ...own, maxDepth: Math.min(own.maxDepth, below) } };
}

export function getDelegation({ delegation }: AgentDefinition): Delegation {
  return delegation ?? Delegation.parse({});
}

export type ChildFacts = ReadonlyMap<string, NonNullable<ToolFacts["child"]>>;

/** Stores the definitions of an agent's sub-agents, so that a call needs only a hash. */
export async function saveChildDefinitions(
  caller: AgentDefinition,
  transcript: Pick<Transcript, "saveDefinition">,
): Promise<ChildFacts> {
  const facts = await Promise.all(
    (caller.subAgents ?? []).map(async (subAgent) => {
      const definition = buildChildDefinition(caller, subAgent);
      const definitionHash = await transcript.saveDefinition(definition);
      return [subAgent.name, { definitionHash, ...getBounds(subAgent, definition) }] as const;
    }),
  );
  return new Map(facts);
}

/** Builds the same facts without storing anything: the name replaces the hash. */
export function buildChildFacts(caller: AgentDefinition): ChildFacts {
  return new Map(
    (caller.subAgents ?? []).map((subAgent) => {
      const bounds = getBounds(subAgent, buildChildDefinition(caller, subAgent));
      return [subAgent.name, { definitionHash: subAgent.name, ...bounds }] as const;
    }),
  );
}

function getBounds({ limits, acceptsMaxTurns }: SubAgent, definition: AgentDefinition) {
  const delegation = definition.subAgents === undefined ? {} : { delegation: getDelegation(definition) };
  return { limits, ...delegation, ...(acceptsMaxTurns === true ? { acceptsMaxTurns } : {}) };
}
