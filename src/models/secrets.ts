import { findHeaderProblem } from "../schema/headers.ts";
import type { ModelConfig } from "../schema/model.ts";
import { ProviderError } from "./provider-error.ts";

/** Where the values of `${NAME}` come from: unless told otherwise the worker's environment, at the moment of use. */
export type SecretSource = {
  (name: string): string | undefined;
  /**
   * Fetches what must be fetched, so that reading it is immediate. Awaited before each use; names that are at hand, or
   * that the source does not know, cost nothing. Rejects with a `ProviderError`.
   */
  readonly prepare?: (names: readonly string[]) => Promise<void>;
  /**
   * Forgets a value that a vendor has refused, so that the next asking finds a new one (CRED-01). A source that keeps
   * none has nothing to forget: then a refusal is final, as it is where `false` says that nothing new can be had.
   *
   * @param refused - The value; another that has come in its place meanwhile is kept.
   */
  readonly invalidate?: (name: string, refused?: string) => unknown;
  /** Values that nothing may show, although nobody has asked for them by a name. */
  readonly knownValues?: () => readonly string[];
};

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export const environmentSource: SecretSource = (name) =>
  Object.hasOwn(process.env, name) ? process.env[name] : undefined;

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
    Object.entries(headers).map(([name, value]) => {
      // A key that was read from a file has the line break of the file.
      const resolved = resolveSecrets(value, source).trim();
      const fault = findHeaderProblem(name, resolved);
      if (fault === undefined) return [name, resolved];
      const from = listReferences([value]).join(" and ");
      const advice = from === "" ? "correct the definition" : `correct ${from} in the worker's environment`;
      throw new ProviderError("auth", `The request was not sent: ${fault}; ${advice}`);
    }),
  );
}

/** The values that a model is asked with, by name. */
export type UsedSecrets = ReadonlyMap<string, string | undefined>;

/** Has the values of a model's configuration ready, and says which they are. */
export async function prepareSecrets(
  { apiKey, headers }: ModelConfig,
  source: SecretSource,
): Promise<UsedSecrets> {
  const names = listReferences([apiKey ?? "", ...Object.values(headers)]);
  await source.prepare?.(names);
  return new Map(names.map((name) => [name, source(name)]));
}

/** Has values forgotten that were refused. @returns Whether it makes sense to ask once more. */
export async function invalidateSecrets(used: UsedSecrets, source: SecretSource): Promise<boolean> {
  let isWorthwhile = false;
  for (const [name, value] of used) {
    if (source.invalidate === undefined) return false;
    if ((await source.invalidate(name, value)) !== false) isWorthwhile = true;
  }
  return isWorthwhile;
}

/** The names in `${NAME}` references. */
export function listReferences(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => [...text.matchAll(REFERENCE)].map(([, name]) => name as string));
}

/** The values that a model's configuration refers to, as far as they are known: what must not be shown or stored. */
export function listSecrets({ apiKey, headers }: ModelConfig, source: SecretSource): (string | undefined)[] {
  return listReferences([apiKey ?? "", ...Object.values(headers)]).map((name) => source(name));
}
