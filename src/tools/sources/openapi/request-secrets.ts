import { SecretMatcher } from "../../../platform/text/secret-matcher.ts";
import { ToolError } from "../../tool-execution.ts";

export type SecretLookup = (name: string) => string | undefined;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const HAS_REFERENCE = new RegExp(REFERENCE.source);

export function hasReference(text: string): boolean {
  return HAS_REFERENCE.test(text);
}

/** The secrets of one request, so that they can be masked in its output. */
export class RequestSecrets {
  readonly #source: SecretLookup;
  readonly #values = new Set<string>();
  #matcher: SecretMatcher | undefined;

  constructor(source: SecretLookup) {
    this.#source = source;
  }

  /** Replaces references with their values. */
  resolve(text: string): string {
    return text.replace(REFERENCE, (_, name: string) => {
      const value = this.#source(name);
      if (value === undefined || value === "") {
        throw new ToolError(
          "failed",
          `${name} is not set in the environment of the worker, so the request was not sent: the operator of the worker must set it`,
        );
      }
      this.add(value);
      return value;
    });
  }

  /** Adds a value that an answer may repeat, in any form. */
  add(value: string): void {
    if (this.#values.has(value)) return;
    this.#values.add(value);
    this.#matcher = undefined;
  }

  mask(text: string): string {
    this.#matcher ??= new SecretMatcher([...this.#values]);
    return this.#matcher.mask(text, MASKED);
  }
}

export const MASKED = "****";
