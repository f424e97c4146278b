import { listReferences, listSecrets, type SecretSource } from "../../models/secrets.ts";
import type { Logger } from "../../platform/log.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedSources } from "../../schema/tool-source.ts";
import { listModels } from "../model/model-fallback.ts";

/**
 * Lists the values that an agent's models and sources refer to, and the other secrets of its worker. Tool output that
 * is displayed or stored must not contain them.
 */
export function listDefinitionSecrets(
  definition: AgentDefinition,
  source: SecretSource,
): (string | undefined)[] {
  const { pinned } = definition;
  const names = pinned === undefined ? [] : listSourceReferences(pinned);
  const ofModels = listModels(definition).flatMap((model) => listSecrets(model, source));
  return [...ofModels, ...names.map((name) => source(name)), ...(source.knownValues?.() ?? [])];
}

/**
 * Fetches those values before a tool runs, for the tools that need them and for masking. A value that is unavailable
 * fails only the tool that needs it.
 */
export async function fetchSecrets(
  definition: AgentDefinition,
  source: SecretSource,
  log: Pick<Logger, "warn">,
): Promise<void> {
  if (source.prepare === undefined) return;
  const { pinned } = definition;
  const ofModels = listModels(definition).flatMap(({ apiKey, headers }) =>
    listReferences([apiKey ?? "", ...Object.values(headers)]),
  );
  for (const name of new Set([...ofModels, ...(pinned === undefined ? [] : listSourceReferences(pinned))])) {
    await source.prepare([name]).catch((error: Error) => log.warn({ name }, error.message));
  }
}

/** Caches the references by pins, which live as long as their definition. */
const referencesByPinned = new WeakMap<PinnedSources, readonly string[]>();

function listSourceReferences(pinned: PinnedSources): readonly string[] {
  const before = referencesByPinned.get(pinned);
  if (before !== undefined) return before;
  const texts = pinned.tools.map(({ data }) => JSON.stringify(data ?? null));
  const names = [...new Set(listReferences(texts))];
  referencesByPinned.set(pinned, names);
  return names;
}
