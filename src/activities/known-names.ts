import { DefinitionError } from "./failure.ts";

/**
 * A definition that counts on what an application registers must not run without it.
 *
 * @param what - As the error says it: "input filter".
 */
export function checkNames(what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const has = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  throw new DefinitionError(
    `This worker has no ${what} ${unknown.map((name) => `"${name}"`).join(", ")}; ${has}`,
  );
}
