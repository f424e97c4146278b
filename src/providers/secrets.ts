import type { ModelConfig } from "../schema/model.ts";
import { ProviderError } from "./provider-error.ts";

/** Where the values of `${NAME}` come from: the worker's environment, at the moment of use. */
export type SecretSource = (name: string) => string | undefined;

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

/** The values that a model's configuration refers to, as far as they are known: what must not be shown or stored. */
export function secretsIn({ apiKey, headers }: ModelConfig, source: SecretSource): (string | undefined)[] {
  const texts = [apiKey ?? "", ...Object.values(headers)];
  return texts.flatMap((text) => [...text.matchAll(REFERENCE)].map(([, name]) => source(name as string)));
}
