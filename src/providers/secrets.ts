import type { ModelConfig } from "../schema/model.ts";
import { ProviderError } from "./provider-error.ts";

/** Where the values of `${NAME}` come from: the worker's environment, at the moment of use. */
export type SecretSource = {
  (name: string): string | undefined;
  /**
   * Forgets a value that a vendor has refused, so that the next asking finds a new one (CRED-01). A source that keeps
   * none has nothing to forget: then a refusal is final.
   */
  readonly invalidate?: (name: string) => Promise<void> | void;
};

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export const environment: SecretSource = (name) => process.env[name];

/** Puts the values in. A name without a value is an `auth` fault that says where to set it. */
export function resolveSecrets(text: string, source: SecretSource): string {
  return text.replace(REFERENCE, (_, name: string) => {
    const value = source(name);
    if (value === undefined || value === "") {
      throw new ProviderError(
        "auth",
        `${name} is not set in the environment of the worker: set it there and start again`,
      );
    }
    return value;
  });
}

export function resolveHeaders(
  headers: Readonly<Record<string, string>>,
  source: SecretSource,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, resolveSecrets(value, source)]),
  );
}

/** Has the values of a model's configuration forgotten. @returns Whether it makes sense to ask once more. */
export async function invalidateSecrets(
  { apiKey, headers }: ModelConfig,
  source: SecretSource,
): Promise<boolean> {
  const names = namesIn([apiKey ?? "", ...Object.values(headers)]);
  if (source.invalidate === undefined || names.length === 0) return false;
  for (const name of names) await source.invalidate(name);
  return true;
}

/** The names in `${NAME}` references. */
export function namesIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => [...text.matchAll(REFERENCE)].map(([, name]) => name as string));
}

/** The values that a model's configuration refers to, as far as they are known: what must not be shown or stored. */
export function secretsIn({ apiKey, headers }: ModelConfig, source: SecretSource): (string | undefined)[] {
  return namesIn([apiKey ?? "", ...Object.values(headers)]).map((name) => source(name));
}
