import type { ConfigSnapshot } from "../schema/agent-event.ts";
import type { AgentDefinition } from "../schema/definition.ts";

/**
 * With what a loop asks its model (SES-04): what is not set is left out. Keys and headers are not among it; of an address,
 * neither are names, passwords and queries.
 */
export function buildConfigSnapshot(definition: AgentDefinition, definitionHash: string): ConfigSnapshot {
  const { model, thinking, temperature, configId, maxTokens } = definition;
  return {
    definitionHash,
    model: model.id,
    provider: model.provider,
    ...(configId === undefined ? {} : { configId }),
    ...(model.name === undefined ? {} : { name: model.name }),
    api: model.api,
    baseUrl: stripAddress(model.baseUrl),
    ...(model.reasoning ? { reasoning: true } : {}),
    contextWindow: model.contextWindow,
    maxTokens: maxTokens ?? model.maxTokens,
    ...(thinking === "off" ? {} : { thinking }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

/** Scheme, host and path. */
function stripAddress(address: string): string {
  const [, scheme = "", authority = "", path = ""] =
    /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)/i.exec(address) ?? [];
  return `${scheme}${authority.slice(authority.lastIndexOf("@") + 1)}${path}`;
}
