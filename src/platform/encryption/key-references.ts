import { readFileSync } from "node:fs";
import { KeyError } from "./key-error.ts";

/** The environment variable that lists the keys. */
export const KEYS_VARIABLE = "HOLDFAST_ENCRYPTION_KEYS";

/** The first list item while keys are distributed but not yet used for encryption, or are being retired. */
export const PLAIN = "plain";

const KEY_BYTES = 32;
const REFERENCE = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})=(env|file):(.+)$/s;
const REFERENCE_HELP =
  `${KEYS_VARIABLE} lists keys as id=env:NAME or id=file:PATH, separated by commas, the key for encryption first; ` +
  "never the key itself";

type ResolvedKey = { readonly id: string; readonly bytes: Buffer };

/** Keys in order. The first one encrypts, unless the list begins with `plain`. */
export type ResolvedKeys = { readonly keys: readonly ResolvedKey[]; readonly isPlainFirst: boolean };

/** Resolves the keys of a list of references. Messages never contain the keys. */
export function resolveKeys(references: string, env: NodeJS.ProcessEnv): ResolvedKeys {
  const parts = references.split(/[\s,]+/).filter((reference) => reference !== "");
  const plainFirst = parts[0] === PLAIN;
  const keys = parts
    .slice(plainFirst ? 1 : 0)
    .map((reference, index) => resolveKey(reference, index + 1, env));
  for (const [index, { id }] of keys.entries()) {
    if (keys.findIndex((other) => other.id === id) !== index) {
      throw new KeyError("invalid", `${KEYS_VARIABLE} contains two keys "${id}": give each its own id.`, id);
    }
  }
  if (keys.length === 0)
    throw new KeyError("invalid", `There is no key in ${KEYS_VARIABLE}. ${REFERENCE_HELP}.`);
  return { keys, isPlainFirst: plainFirst };
}

function resolveKey(reference: string, index: number, env: NodeJS.ProcessEnv): ResolvedKey {
  const [, id, kind, source] = REFERENCE.exec(reference) ?? [];
  // The message does not repeat the reference: it may be a key by mistake.
  if (id === undefined || source === undefined || id === PLAIN) {
    throw new KeyError("invalid", `Reference ${index} is invalid. ${REFERENCE_HELP}.`);
  }
  const text = kind === "env" ? readKeyFromEnvironment(id, source, env) : readKeyFromFile(id, source);
  const bytes = decodeKey(text.trim());
  if (bytes?.length !== KEY_BYTES) {
    throw new KeyError(
      "invalid",
      `Key "${id}" (${kind}:${source}) is not ${KEY_BYTES} bytes in base64 or hex. ` +
        "Create one with: openssl rand -base64 32",
      id,
    );
  }
  return { id, bytes };
}

function readKeyFromEnvironment(id: string, name: string, env: NodeJS.ProcessEnv): string {
  const value = env[name];
  if (value !== undefined && value !== "") return value;
  throw new KeyError("invalid", `Key "${id}": ${name} is not set in the environment of this process.`, id);
}

function readKeyFromFile(id: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new KeyError("invalid", `Key "${id}": ${path} cannot be read (${code}).`, id);
  }
}

function decodeKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}
