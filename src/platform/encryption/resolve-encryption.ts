import { KeyError } from "./key-error.ts";
import { KEYS_VARIABLE } from "./key-references.ts";
import { KeyRing } from "./key-ring.ts";

/** The environment variable that says what is sealed, where not everything is. */
const ENCRYPT_VARIABLE = "HOLDFAST_ENCRYPT";

export type EncryptionOptions = {
  /** References to keys, as `HOLDFAST_ENCRYPTION_KEYS` has them: `id=env:NAME` or `id=file:PATH`. The first one seals. */
  readonly keys: string;
  /** What Temporal stores; on unless said. */
  readonly payloads?: boolean;
  /** Our own store: transcript and live output; on unless said. */
  readonly transcript?: boolean;
};

/** What is sealed here, and with what. What is sealed already is opened in any case. */
export type Encryption = {
  readonly ring: KeyRing | undefined;
  readonly payloads: boolean;
  readonly transcript: boolean;
};

export const NO_ENCRYPTION: Encryption = { ring: undefined, payloads: false, transcript: false };

const PARTS = ["payloads", "transcript"] as const;

/** @param options - Else what the environment says. Throws `KeyError`. */
export function resolveEncryption(
  options?: EncryptionOptions,
  env: NodeJS.ProcessEnv = process.env,
): Encryption {
  const { keys, payloads = true, transcript = true } = options ?? readOptionsFromEnvironment(env);
  if (keys.trim() === "") return NO_ENCRYPTION;
  const ring = KeyRing.fromReferences(keys, env);
  const seals = ring.writeKeyId !== undefined;
  return { ring, payloads: seals && payloads, transcript: seals && transcript };
}

function readOptionsFromEnvironment(env: NodeJS.ProcessEnv): EncryptionOptions {
  const keys = env[KEYS_VARIABLE] ?? "";
  const requestedParts = (env[ENCRYPT_VARIABLE] ?? "").split(/[\s,]+/).filter((value) => value !== "");
  const unknown = requestedParts.find((value) => !PARTS.some((part) => part === value));
  if (unknown !== undefined) {
    throw new KeyError("invalid", `${ENCRYPT_VARIABLE} says "${unknown}"; it takes ${PARTS.join(" and ")}.`);
  }
  if (requestedParts.length > 0 && keys.trim() === "") {
    throw new KeyError("invalid", `${ENCRYPT_VARIABLE} is set, and ${KEYS_VARIABLE} names no key.`);
  }
  if (requestedParts.length === 0) return { keys };
  return {
    keys,
    payloads: requestedParts.includes("payloads"),
    transcript: requestedParts.includes("transcript"),
  };
}
