import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { ConfigSnapshot } from "../schema/agent-event.ts";
import type { AgentDefinition } from "../schema/definition.ts";

/**
 * Builds the configuration with which a loop calls its model (SES-04), without unset fields. It contains no keys and
 * headers, and addresses contain no user names, passwords or queries.
 */
export function buildConfigSnapshot(definition: AgentDefinition, definitionHash: string): ConfigSnapshot {
  const { model, thinking, temperature, configId, maxTokens } = definition;
  return {
    definitionHash,
    model: model.id,
    provider: model.provider,
    ...omitUndefined({ configId, name: model.name }),
    api: model.api,
    baseUrl: stripAddress(model.baseUrl),
    ...(model.reasoning ? { reasoning: true } : {}),
    contextWindow: model.contextWindow,
    maxTokens: maxTokens ?? model.maxTokens,
    ...(thinking === "off" ? {} : { thinking }),
    ...omitUndefined({ temperature }),
  };
}

/** Returns scheme, host and path. */
function stripAddress(address: string): string {
  const [, scheme = "", authority = "", path = ""] =
    /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)/i.exec(address) ?? [];
  return `${scheme}${authority.slice(authority.lastIndexOf("@") + 1)}${path}`;
}
