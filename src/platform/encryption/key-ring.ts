import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { KeyError } from "./key-error.ts";
import { KEYS_VARIABLE, type ResolvedKeys, resolveKeys } from "./key-references.ts";

// Encrypted data is one sequence of bytes: a mark, the key's id, a salt, an IV, the tag, the ciphertext.
//
// Invariants
//   I1. Encrypted data can be decrypted only whole, unchanged, with its own key, purpose and associated data.
//   I2. No UTF-8 text begins with the mark, so that a text is never mistaken for encrypted data.

/** Data that is encrypted for one purpose cannot be decrypted for another. */
export type Purpose = "payload" | "transcript" | "live";

const MARK = Buffer.from([0xf8, 0x01]);
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
const MAX_DERIVED = 1024;

/**
 * The keys of this process, by id. The first one encrypts; all of them decrypt.
 *
 * Each process encrypts with derived keys of its own, whose salt is part of the data: random 96-bit IVs would collide
 * too soon under one key that a whole fleet uses for years.
 */
export class KeyRing {
  /** The references that it was created from, so that another thread can create the same. */
  readonly references: string;
  /** The id of the key that encrypts; absent if new data stays plain. */
  readonly writeKeyId: string | undefined;
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #salt = randomBytes(SALT_BYTES);
  readonly #derived = new Map<string, KeyObject>();

  private constructor(references: string, { keys, isPlainFirst }: ResolvedKeys) {
    this.references = references;
    this.#keys = new Map(keys.map(({ id, bytes }) => [id, bytes]));
    this.writeKeyId = isPlainFirst ? undefined : keys[0]?.id;
  }

  /** @param references - In the format of `HOLDFAST_ENCRYPTION_KEYS`. Throws `KeyError`. */
  static fromReferences(references: string, env: NodeJS.ProcessEnv = process.env): KeyRing {
    return new KeyRing(references, resolveKeys(references, env));
  }

  get ids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** Returns a fingerprint that distinguishes keys of the same name and reveals nothing else. */
  fingerprint(id: string): string {
    const key = this.#getKey(id);
    return createHmac("sha256", key).update("holdfast/1/fingerprint").digest("hex").slice(0, 12);
  }

  /** @param associatedData - What the data belongs to; decryption requires the same. */
  encrypt(purpose: Purpose, plain: Uint8Array, associatedData: string): Buffer {
    if (this.writeKeyId === undefined)
      throw new KeyError("missing", "None of the keys of this process is for encryption.");
    const id = Buffer.from(this.writeKeyId, "latin1");
    const head = Buffer.concat([MARK, Buffer.from([id.length]), id, this.#salt]);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#deriveKey(this.writeKeyId, purpose, this.#salt), iv);
    cipher.setAAD(buildAssociatedData(head, purpose, associatedData));
    const first = cipher.update(plain);
    const rest = cipher.final();
    return Buffer.concat([head, iv, cipher.getAuthTag(), first, rest]);
  }

  /** Decrypts data. Throws `KeyError`, which says which key is missing or does not match. */
  decrypt(purpose: Purpose, encrypted: Uint8Array, associatedData: string): Buffer {
    const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength);
    const id = readKeyId(bytes);
    if (id === undefined)
      throw new KeyError("mismatch", "The data to decrypt is not encrypted, or is truncated.");
    if (!this.#keys.has(id)) throw createMissingKeyError(id, this.ids);
    const saltAt = MARK.length + 1 + id.length;
    const ivAt = saltAt + SALT_BYTES;
    const tagAt = ivAt + IV_BYTES;
    const textAt = tagAt + TAG_BYTES;
    if (bytes.length < textAt) throw createDecryptionError(id);
    const key = this.#deriveKey(id, purpose, bytes.subarray(saltAt, ivAt));
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(ivAt, tagAt), { authTagLength: TAG_BYTES });
    decipher.setAAD(buildAssociatedData(bytes.subarray(0, ivAt), purpose, associatedData));
    decipher.setAuthTag(bytes.subarray(tagAt, textAt));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]);
    } catch {
      throw createDecryptionError(id);
    }
  }

  #deriveKey(id: string, purpose: Purpose, salt: Buffer): KeyObject {
    const name = `${id}/${purpose}/${salt.toString("hex")}`;
    const known = this.#derived.get(name);
    if (known !== undefined) return known;
    const bytes = hkdfSync("sha256", this.#getKey(id), salt, `holdfast/1/${purpose}`, 32);
    const key = createSecretKey(Buffer.from(bytes));
    const [oldest] = this.#derived.keys();
    if (this.#derived.size >= MAX_DERIVED && oldest !== undefined) this.#derived.delete(oldest);
    this.#derived.set(name, key);
    return key;
  }

  #getKey(id: string): Buffer {
    const key = this.#keys.get(id);
    if (key === undefined) throw createMissingKeyError(id, this.ids);
    return key;
  }
}

/** Returns the id of the key that encrypted these bytes, or undefined if they are not encrypted. */
export function readKeyId(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== MARK[0] || bytes[1] !== MARK[1]) return undefined;
  const length = bytes[2] ?? 0;
  const id = bytes.subarray(3, 3 + length);
  return length === 0 || id.length < length ? undefined : Buffer.from(id).toString("latin1");
}

/** @param availableIds - The ids of the existing keys. */
export function createMissingKeyError(id: string, availableIds: readonly string[]): KeyError {
  const has =
    availableIds.length === 0
      ? "which has none"
      : `which has ${availableIds.map((one) => `"${one}"`).join(", ")}`;
  return new KeyError(
    "missing",
    `Encrypted with key "${id}", which is not among the keys of this process (${has}): ` +
      `add a reference to it to ${KEYS_VARIABLE}.`,
    id,
  );
}

function createDecryptionError(id: string): KeyError {
  return new KeyError(
    "mismatch",
    `Encrypted with key "${id}", but this process's key of that name cannot decrypt it: it is a different key, ` +
      "or the stored data was changed, truncated or moved.",
    id,
  );
}

function buildAssociatedData(head: Buffer, purpose: Purpose, associatedData: string): Buffer {
  return Buffer.concat([head, Buffer.from(`${purpose}\n${associatedData}`, "utf8")]);
}
