import { namesIn, type SecretSource, secretsIn } from "../providers/secrets.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { PinnedOutside } from "../schema/outside.ts";

/** The values that an agent's model and sources refer to: what must not be shown or stored of what its tools give. */
export function secretsOf(definition: AgentDefinition, source: SecretSource): (string | undefined)[] {
  const { model, pinned } = definition;
  const names = pinned === undefined ? [] : namesOf(pinned);
  return [...secretsIn(model, source), ...names.map((name) => source(name))];
}

/** A definition keeps what it was pinned to as long as it is kept itself. */
const known = new WeakMap<PinnedOutside, readonly string[]>();

function namesOf(pinned: PinnedOutside): readonly string[] {
  const before = known.get(pinned);
  if (before !== undefined) return before;
  const texts = pinned.tools.map(({ data }) => JSON.stringify(data ?? null));
  const names = [...new Set(namesIn(texts))];
  known.set(pinned, names);
  return names;
}
