import type { ZodType } from "zod";
import { check } from "../../schema/check.ts";
import { AgentDefinition } from "../../schema/definition.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { DefinitionError } from "./failure.ts";

/** The most cached definitions. A definition never changes under its hash. */
const MAX_CACHED = 256;

export class Definitions {
  readonly #transcript: Transcript;
  readonly #cache = new Map<string, AgentDefinition>();

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  /** Reads a definition for a run that starts. An imported definition must have been accepted. */
  async readAccepted(hash: string): Promise<AgentDefinition> {
    if (!(await this.#transcript.isAccepted(hash))) {
      throw new DefinitionError(
        `The definition ${hash} was imported and has not been accepted here: inspect it and accept it with ` +
          "`holdfast accept SESSION`, or specify a definition of your own",
      );
    }
    return await this.read(hash);
  }

  async read(hash: string): Promise<AgentDefinition> {
    const kept = this.#cache.get(hash);
    if (kept !== undefined) return kept;
    const stored = await this.#transcript.readDefinition(hash);
    if (stored === undefined) {
      throw new DefinitionError(
        `No definition is stored under ${hash}: start the run with the definition itself`,
      );
    }
    const definition = parseDefinition(stored);
    if (this.#cache.size >= MAX_CACHED) this.#cache.delete(this.#cache.keys().next().value as string);
    this.#cache.set(hash, definition);
    return definition;
  }
}

/** Parses a definition with today's defaults for absent fields, because an older release may have stored it. */
export function parseDefinition(given: unknown): AgentDefinition {
  return parseInput("definition", AgentDefinition, given);
}

/** Parses an input, or throws with a reason that names the field. */
export function parseInput<Value>(what: string, schema: ZodType<Value>, given: unknown): Value {
  const checked = check(schema, given, what);
  if (checked.ok) return checked.value;
  throw new DefinitionError(`The ${what} is not valid: ${checked.problems.join("; ")}`);
}
