import { KeyError } from "./key-error.ts";
import { KEYS_VARIABLE } from "./key-references.ts";
import { KeyRing } from "./key-ring.ts";

/** The environment variable that lists what is encrypted, if not everything is. */
const ENCRYPT_VARIABLE = "HOLDFAST_ENCRYPT";

/** What is encrypted, and with which keys. */
export type EncryptionOptions = {
  /** References to keys, as in `HOLDFAST_ENCRYPTION_KEYS`: `id=env:NAME` or `id=file:PATH`. The first one encrypts. */
  readonly keys: string;
  /** Encrypts the data that Temporal stores; on by default. */
  readonly payloads?: boolean;
  /** Encrypts Holdfast's own store, the transcript and live output; on by default. */
  readonly transcript?: boolean;
};

/** What is encrypted, and with which keys. Existing encrypted data is always decrypted. */
export type Encryption = {
  readonly ring: KeyRing | undefined;
  readonly payloads: boolean;
  readonly transcript: boolean;
};

export const NO_ENCRYPTION: Encryption = { ring: undefined, payloads: false, transcript: false };

const PARTS = ["payloads", "transcript"] as const;

/** @param options - By default those of the environment. Throws `KeyError`. */
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
    throw new KeyError(
      "invalid",
      `${ENCRYPT_VARIABLE} contains "${unknown}"; valid values are ${PARTS.join(" and ")}.`,
    );
  }
  if (requestedParts.length > 0 && keys.trim() === "") {
    throw new KeyError("invalid", `${ENCRYPT_VARIABLE} is set, but ${KEYS_VARIABLE} specifies no key.`);
  }
  if (requestedParts.length === 0) return { keys };
  return {
    keys,
    payloads: requestedParts.includes("payloads"),
    transcript: requestedParts.includes("transcript"),
  };
}
