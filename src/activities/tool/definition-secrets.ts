import { listReferences, listSecrets, type SecretSource } from "../../models/secrets.ts";
import type { Logger } from "../../platform/log.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedSources } from "../../schema/tool-source.ts";
import { listModels } from "../model/model-fallback.ts";

/**
 * The values that an agent's models and sources refer to, and those that its worker holds besides: what must not be shown
 * or stored of what its tools give.
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
 * Has those values at hand before a tool runs, for the tools that need them, and to hide them. One that cannot be had is
 * missed by the tool that needs it, and by no other.
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

/** A definition keeps what it was pinned to as long as it is kept itself. */
const referencesByPinned = new WeakMap<PinnedSources, readonly string[]>();

function listSourceReferences(pinned: PinnedSources): readonly string[] {
  const before = referencesByPinned.get(pinned);
  if (before !== undefined) return before;
  const texts = pinned.tools.map(({ data }) => JSON.stringify(data ?? null));
  const names = [...new Set(listReferences(texts))];
  referencesByPinned.set(pinned, names);
  return names;
}
