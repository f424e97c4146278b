import type { AgentDefinition } from "../schema/definition.ts";
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
    const definition = await this.#transcript.definition(hash);
    if (definition === undefined) {
      throw new DefinitionError(
        `No definition is stored under ${hash}: start the run with the definition itself`,
      );
    }
    if (this.#kept.size >= KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    this.#kept.set(hash, definition);
    return definition;
  }
}
