import { REDACTED } from "../core/redact.ts";
import type { McpServer } from "../schema/mcp.ts";
import { secretForms } from "../tools/outside/secret-forms.ts";
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

/** Names of all that a definition refers to, each once. */
export function referencesIn({ transport }: Pick<McpServer, "transport">): readonly string[] {
  const text = JSON.stringify(transport);
  return [...new Set([...text.matchAll(REFERENCE)].map(([, name]) => name as string))];
}

/** Blanks the values that a definition refers to. */
export function maskOf(server: Pick<McpServer, "transport">, secrets: Secrets): (text: string) => string {
  const values = referencesIn(server)
    .flatMap((name) => secretForms(secrets(name) ?? ""))
    .sort((a, b) => b.length - a.length);
  return (text) => values.reduce((masked, value) => masked.replaceAll(value, REDACTED), text);
}
