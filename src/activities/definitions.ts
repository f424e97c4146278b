import { AgentDefinition } from "../schema/definition.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { DefinitionError } from "./failure.ts";

/** Definitions never change under their hash: kept once read. */
const KEPT = 256;

export class Definitions {
  readonly #transcript: Transcript;
  readonly #kept = new Map<string, AgentDefinition>();

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  async byHash(hash: string): Promise<AgentDefinition> {
    const kept = this.#kept.get(hash);
    if (kept !== undefined) return kept;
    const stored = await this.#transcript.definition(hash);
    if (stored === undefined) {
      throw new DefinitionError(
        `No definition is stored under ${hash}: start the run with the definition itself`,
      );
    }
    const definition = parsedDefinition(stored);
    if (this.#kept.size >= KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    this.#kept.set(hash, definition);
    return definition;
  }
}

/** With the defaults of today where it says nothing: an older release may have stored it, and a newer one a field more. */
export function parsedDefinition(given: unknown): AgentDefinition {
  const parsed = AgentDefinition.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    ({ path, message }) => `${path.join(".") || "definition"}: ${message}`,
  );
  throw new DefinitionError(`The definition is not valid: ${issues.join("; ")}`);
}
