import { REDACTED } from "../../../platform/text/redact.ts";
import { SecretMatcher } from "../../../platform/text/secret-matcher.ts";
import { findHeaderProblem } from "../../../schema/headers.ts";
import type { McpServer } from "../../../schema/mcp.ts";
import { McpError } from "./mcp-error.ts";

/** Resolves the values of `${NAME}` at the moment of use. */
export type SecretSource = {
  (name: string): string | undefined;
  /** Forgets a value that a server has rejected, so that the next lookup finds a new one. */
  readonly invalidate?: (name: string) => unknown;
};

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Replaces each reference with its value. */
export function resolveReferences(text: string, secrets: SecretSource): string {
  return text.replace(REFERENCE, (_, name: string) => {
    const value = secrets(name);
    if (value === undefined || value === "") {
      throw new McpError(
        "definition",
        `cannot be used: ${name} is not set in the environment of the worker: set it there and restart the worker`,
      );
    }
    return value;
  });
}

export function resolveEachReference(
  values: Readonly<Record<string, string>>,
  secrets: SecretSource,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, resolveReferences(value, secrets)]),
  );
}

/** Replaces the references in headers, whose values must be valid in HTTP. */
export function resolveHeaderReferences(
  headers: Readonly<Record<string, string>>,
  secrets: SecretSource,
): Record<string, string> {
  const trimmed = Object.entries(resolveEachReference(headers, secrets)).map(([name, value]) => {
    const sent = value.trim();
    const fault = findHeaderProblem(name, sent);
    if (fault !== undefined) throw new McpError("definition", `cannot be called: ${fault}`);
    return [name, sent] as const;
  });
  return Object.fromEntries(trimmed);
}

/** Lists the names of all secrets that a definition refers to, each once. */
export function listReferences({ transport }: Pick<McpServer, "transport">): readonly string[] {
  const text = JSON.stringify(transport);
  return [...new Set([...text.matchAll(REFERENCE)].map(([, name]) => name as string))];
}

/** Masks the values that a definition refers to, in all forms, including earlier values that were replaced. */
export class SecretMasker {
  readonly #values = new Set<string>();
  #matcher: SecretMatcher | undefined;
  readonly #names: readonly string[];
  readonly #secrets: SecretSource;

  constructor(server: Pick<McpServer, "transport">, secrets: SecretSource) {
    this.#names = listReferences(server);
    this.#secrets = secrets;
  }

  /** Adds a secret that no definition refers to: it was issued in exchange for one. */
  addSecret(secret: string): void {
    if (this.#values.has(secret)) return;
    this.#values.add(secret);
    this.#matcher = undefined;
  }

  readonly mask = (text: string): string => {
    for (const name of this.#names) this.addSecret(this.#secrets(name) ?? "");
    this.#matcher ??= new SecretMatcher([...this.#values]);
    return this.#matcher.mask(text, REDACTED);
  };
}
