import type { ZodType } from "zod";
import { check } from "../../schema/check.ts";
import { AgentDefinition } from "../../schema/definition.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { DefinitionError } from "./failure.ts";

/** Definitions never change under their hash: kept once read. */
const MAX_CACHED = 256;

export class Definitions {
  readonly #transcript: Transcript;
  readonly #cache = new Map<string, AgentDefinition>();

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  /** For a run that is about to start: one that came with an import must have been accepted. */
  async readAccepted(hash: string): Promise<AgentDefinition> {
    if (!(await this.#transcript.isAccepted(hash))) {
      throw new DefinitionError(
        `The definition ${hash} came with an import and has not been accepted here: look at it and accept it with ` +
          "`holdfast accept SESSION`, or give a definition of your own",
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

/** With the defaults of today where it says nothing: an older release may have stored it. */
export function parseDefinition(given: unknown): AgentDefinition {
  return parseInput("definition", AgentDefinition, given);
}

/** What somebody has sent, or a reason that names the field. */
export function parseInput<Value>(what: string, schema: ZodType<Value>, given: unknown): Value {
  const checked = check(schema, given, what);
  if (checked.ok) return checked.value;
  throw new DefinitionError(`The ${what} is not valid: ${checked.problems.join("; ")}`);
}
