import { readFileSync } from "node:fs";
import type { NativeConnectionOptions } from "@temporalio/worker";
import { findSecretVariables } from "../config/secret-variables.ts";
import type { SecretSource } from "../models/secrets.ts";
import { resolveKeys } from "../platform/encryption/key-references.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";

// The secrets that this process holds and that nothing that leaves it may contain, whether or not a definition refers
// to them: a command of an agent runs as the worker's own user, and can read more than its own environment.

export type OwnSecretSettings = {
  readonly env: NodeJS.ProcessEnv;
  /** References to keys from the options; otherwise those of the environment apply. */
  readonly keys: string | undefined;
  /** The address of the database from the options. An address in the environment is a variable like others. */
  readonly database: string | undefined;
  /** The connection to Temporal: an API key, the key of a certificate. */
  readonly connection: NativeConnectionOptions;
};

/**
 * A plain word is not masked: a developer's database whose password is "postgres" must not remove that word from every
 * output.
 */
const PLAIN_WORD = /^(?=.{1,12}$)[A-Za-z]?[a-z]*(?:[-_][a-z]+)?$|^[A-Z]{1,12}$/;

/**
 * Returns a function that lists the values to mask everywhere. It reads the variables each time, because a process may
 * change its own, and examines them again only when one has changed.
 */
export function listOwnSecrets({
  env,
  keys,
  database,
  connection,
}: OwnSecretSettings): () => readonly string[] {
  const fixed = [
    ...listKeySecrets(keys ?? env["HOLDFAST_ENCRYPTION_KEYS"] ?? "", env),
    ...listConnectionSecrets(connection),
    ...listEnvironmentSecrets({ HOLDFAST_DATABASE_URL: database }),
  ];
  let examined: { readonly variables: Variables; readonly secrets: readonly string[] } | undefined;
  return () => {
    const variables = readVariables(env);
    if (examined === undefined || !areEqual(examined.variables, variables)) {
      const found = new Set([...fixed, ...listEnvironmentSecrets(Object.fromEntries(variables))]);
      examined = { variables, secrets: [...found].filter((value) => !PLAIN_WORD.test(value)) };
    }
    return examined.secrets;
  };
}

type Variables = ReadonlyMap<string, string | undefined>;

/** Reads each variable once: every access of a process's environment is a call into the system's library. */
function readVariables(env: NodeJS.ProcessEnv): Variables {
  return new Map((Reflect.ownKeys(env) as string[]).map((name) => [name, env[name]]));
}

function areEqual(left: Variables, right: Variables): boolean {
  if (left.size !== right.size) return false;
  for (const [name, value] of right) if (left.get(name) !== value || !left.has(name)) return false;
  return true;
}

function listEnvironmentSecrets(env: NodeJS.ProcessEnv): readonly string[] {
  return findSecretVariables(env).flatMap(({ secrets }) => secrets);
}

/** Lists each key as its source contains it, in hex, and in both kinds of base64. */
function listKeySecrets(references: string, env: NodeJS.ProcessEnv): readonly string[] {
  if (references.trim() === "") return [];
  const written = [...references.matchAll(/=file:([^\s,]+)/g)].map(([, path]) =>
    readFileSync(path as string, "utf8").trim(),
  );
  const spelt = resolveKeys(references, env).keys.flatMap(({ bytes }) => [
    bytes.toString("hex"),
    bytes.toString("base64"),
    bytes.toString("base64url"),
  ]);
  return [...written, ...spelt];
}

function listConnectionSecrets({ apiKey, tls, metadata }: NativeConnectionOptions): readonly string[] {
  const key = typeof tls === "object" && tls !== null ? tls.clientCertPair?.key : undefined;
  const ofMetadata = Object.entries(metadata ?? {}).flatMap(([name, value]) =>
    /authorization|key|token|secret/i.test(name) && typeof value === "string" ? [value] : [],
  );
  return [
    ...(typeof apiKey === "string" ? [apiKey] : []),
    ...(key === undefined ? [] : [Buffer.from(key).toString("utf8")]),
    ...ofMetadata,
  ];
}

/** Returns the same source with further values that must be masked although no definition refers to them. */
export function addKnownValues(source: SecretSource, getKnownValues: () => readonly string[]): SecretSource {
  const { prepare, invalidate, knownValues: ofSource } = source;
  return Object.assign((name: string) => source(name), {
    ...omitUndefined({ prepare, invalidate }),
    knownValues: () => [...getKnownValues(), ...(ofSource?.() ?? [])],
  });
}
