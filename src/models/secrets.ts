import { findHeaderProblem } from "../schema/headers.ts";
import type { ModelConfig } from "../schema/model.ts";
import { ProviderError } from "./provider-error.ts";

/** Resolves the values of `${NAME}`: from the worker's environment by default, at the moment of use. */
export type SecretSource = {
  (name: string): string | undefined;
  /**
   * Fetches values in advance, so that reading them is immediate. Awaited before each use. Names that are available, or
   * unknown to the source, cost nothing. Rejects with a `ProviderError`.
   */
  readonly prepare?: (names: readonly string[]) => Promise<void>;
  /**
   * Forgets a value that a vendor has rejected, so that the next lookup finds a new one (CRED-01). A source without a cache
   * has nothing to forget: then a rejection is final, as it is with the result `false`: no new value is available.
   *
   * @param refused - The rejected value. A newer value is retained.
   */
  readonly invalidate?: (name: string, refused?: string) => unknown;
  /** Values that must be masked although no name was looked up for them. */
  readonly knownValues?: () => readonly string[];
};

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export const environmentSource: SecretSource = (name) =>
  Object.hasOwn(process.env, name) ? process.env[name] : undefined;

/** Replaces the references. A name without a value is an `auth` fault that tells where to set it. */
export function resolveSecrets(text: string, source: SecretSource): string {
  return text.replace(REFERENCE, (_, name: string) => {
    const value = source(name);
    if (value === undefined || value === "") {
      throw new ProviderError(
        "auth",
        `${name} is not set in the environment of the worker: set it there and restart the worker`,
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
    Object.entries(headers).map(([name, value]) => {
      // A key that was read from a file contains the file's line break.
      const resolved = resolveSecrets(value, source).trim();
      const fault = findHeaderProblem(name, resolved);
      if (fault === undefined) return [name, resolved];
      const from = listReferences([value]).join(" and ");
      const advice = from === "" ? "correct the definition" : `correct ${from} in the worker's environment`;
      throw new ProviderError("auth", `The request was not sent: ${fault}; ${advice}`);
    }),
  );
}

/** The values that a request to a model uses, by name. */
export type UsedSecrets = ReadonlyMap<string, string | undefined>;

/** Prepares the values of a model's configuration and returns them. */
export async function prepareSecrets(
  { apiKey, headers }: ModelConfig,
  source: SecretSource,
): Promise<UsedSecrets> {
  const names = listReferences([apiKey ?? "", ...Object.values(headers)]);
  await source.prepare?.(names);
  return new Map(names.map((name) => [name, source(name)]));
}

/** Invalidates rejected values. @returns Whether a retry is worthwhile. */
export async function invalidateSecrets(used: UsedSecrets, source: SecretSource): Promise<boolean> {
  let isWorthwhile = false;
  for (const [name, value] of used) {
    if (source.invalidate === undefined) return false;
    if ((await source.invalidate(name, value)) !== false) isWorthwhile = true;
  }
  return isWorthwhile;
}

/** Lists the names in `${NAME}` references. */
export function listReferences(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => [...text.matchAll(REFERENCE)].map(([, name]) => name as string));
}

/** Lists the known values that a model's configuration refers to: they must not be displayed or stored. */
export function listSecrets({ apiKey, headers }: ModelConfig, source: SecretSource): (string | undefined)[] {
  return listReferences([apiKey ?? "", ...Object.values(headers)]).map((name) => source(name));
}
