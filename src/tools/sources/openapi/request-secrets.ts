import { SecretMatcher } from "../../../platform/text/secret-matcher.ts";
import { ToolError } from "../../tool.ts";

export type SecretLookup = (name: string) => string | undefined;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const HAS_REFERENCE = new RegExp(REFERENCE.source);

export function hasReference(text: string): boolean {
  return HAS_REFERENCE.test(text);
}

/** The values that one request was given, so that they can be taken out of what is shown of it. */
export class RequestSecrets {
  readonly #source: SecretLookup;
  readonly #values = new Set<string>();
  #matcher: SecretMatcher | undefined;

  constructor(source: SecretLookup) {
    this.#source = source;
  }

  /** Puts the values in. */
  resolve(text: string): string {
    return text.replace(REFERENCE, (_, name: string) => {
      const value = this.#source(name);
      if (value === undefined || value === "") {
        throw new ToolError(
          "failed",
          `${name} is not set in the environment of the worker, so the request was not sent: whoever runs the worker must set it there`,
        );
      }
      this.add(value);
      return value;
    });
  }

  /** What an answer may repeat, in whatever form. */
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
