import { findNearestName } from "../../platform/text/nearest-name.ts";
import { DefinitionError } from "./failure.ts";

/** Formats a hint that follows a problem: `; did you mean "x"?`, or an empty text. */
export function formatSuggestion(name: string, known: readonly string[]): string {
  const near = findNearestName(name, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

/**
 * Throws when the worker lacks something that a definition needs an application to register.
 *
 * @param what - The kind in the error: "input filter".
 */
export function checkNames(what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const has = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  const [first = ""] = unknown;
  throw new DefinitionError(
    `This worker has no ${what} ${unknown.map((name) => `"${name}"`).join(", ")}; ${has}${formatSuggestion(first, known)}`,
  );
}
