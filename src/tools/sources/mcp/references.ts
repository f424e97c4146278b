import { REDACTED } from "../../../platform/text/redact.ts";
import { SecretMatcher } from "../../../platform/text/secret-matcher.ts";
import { headerFault } from "../../../schema/headers.ts";
import type { McpServer } from "../../../schema/mcp.ts";
import { McpError } from "./error.ts";

/** Where the values of `${NAME}` come from, at the moment of use. */
export type Secrets = {
  (name: string): string | undefined;
  /** Forgets a value that a server has refused, so that the next asking finds a new one. */
  readonly invalidate?: (name: string) => unknown;
};

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Puts the values in. */
export function resolved(text: string, secrets: Secrets): string {
  return text.replace(REFERENCE, (_, name: string) => {
    const value = secrets(name);
    if (value === undefined || value === "") {
      throw new McpError(
        "definition",
        `cannot be used: ${name} is not set in the environment of the worker: set it there and start again`,
      );
    }
    return value;
  });
}

export function resolvedAll(
  values: Readonly<Record<string, string>>,
  secrets: Secrets,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, resolved(value, secrets)]));
}

/** The same for headers, which must be such as can be sent. */
export function resolvedHeaders(
  headers: Readonly<Record<string, string>>,
  secrets: Secrets,
): Record<string, string> {
  const trimmed = Object.entries(resolvedAll(headers, secrets)).map(([name, value]) => {
    const sent = value.trim();
    const fault = headerFault(name, sent);
    if (fault !== undefined) throw new McpError("definition", `cannot be asked: ${fault}`);
    return [name, sent] as const;
  });
  return Object.fromEntries(trimmed);
}

/** Names of all that a definition refers to, each once. */
export function referencesIn({ transport }: Pick<McpServer, "transport">): readonly string[] {
  const text = JSON.stringify(transport);
  return [...new Set([...text.matchAll(REFERENCE)].map(([, name]) => name as string))];
}

/** Blanks the values that a definition refers to, in all forms; those too that were there before others came. */
export class Masking {
  readonly #known = new Set<string>();
  #matcher: SecretMatcher | undefined;
  readonly #names: readonly string[];
  readonly #secrets: Secrets;

  constructor(server: Pick<McpServer, "transport">, secrets: Secrets) {
    this.#names = referencesIn(server);
    this.#secrets = secrets;
  }

  /** One that no definition refers to: it was given out for what one refers to. */
  learn(secret: string): void {
    if (this.#known.has(secret)) return;
    this.#known.add(secret);
    this.#matcher = undefined;
  }

  readonly mask = (text: string): string => {
    for (const name of this.#names) this.learn(this.#secrets(name) ?? "");
    this.#matcher ??= new SecretMatcher([...this.#known]);
    return this.#matcher.mask(text, REDACTED);
  };
}
