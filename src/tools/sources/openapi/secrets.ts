import { SecretMatcher } from "../../../platform/text/secret-matcher.ts";
import { ToolError } from "../../tool.ts";

export type Secrets = (name: string) => string | undefined;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const HAS_REFERENCE = new RegExp(REFERENCE.source);

export function namesSecret(text: string): boolean {
  return HAS_REFERENCE.test(text);
}

/** The values that one request was given, so that they can be taken out of what is shown of it. */
export class UsedSecrets {
  readonly #source: Secrets;
  readonly #words = new Set<string>();
  #matcher: SecretMatcher | undefined;

  constructor(source: Secrets) {
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
      this.hide(value);
      return value;
    });
  }

  /** What an answer may repeat, in whatever form. */
  hide(word: string): void {
    if (this.#words.has(word)) return;
    this.#words.add(word);
    this.#matcher = undefined;
  }

  mask(text: string): string {
    this.#matcher ??= new SecretMatcher([...this.#words]);
    return this.#matcher.mask(text, HIDDEN);
  }
}

export const HIDDEN = "****";
