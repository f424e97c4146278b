import { KeyError } from "../../../platform/encryption/key-error.ts";
import { createMissingKeyError, type KeyRing, readKeyId } from "../../../platform/encryption/key-ring.ts";
import {
  type Encryption,
  type EncryptionOptions,
  resolveEncryption,
} from "../../../platform/encryption/resolve-encryption.ts";
import { StoreError } from "../store-error.ts";
import { ValueToEncrypt } from "./encrypted-columns.ts";
import {
  type EncryptedWork,
  get,
  type Statement,
  type StatementValue,
  type Value,
  type Work,
} from "./statement.ts";

// Encrypts private values on their way from work to the engine, and decrypts them on the way back.
//
// An encrypted value contains its associated data in plain text and can be decrypted only with it. A reader of a column
// checks where the value must come from (`decryptColumn`), so that a value that was moved to another row is detected.
// Bytes begin with a mark that no UTF-8 text has, texts with a character that begins no JSON: a plain value is never
// mistaken for an encrypted one.

const MARK = Buffer.from([0xf8, 0x02]);
const TEXT_MARK = "\u0001sealed:";
const HEAD_BYTES = MARK.length + 2;

/** The associated data, key and stored form of each decrypted value of a row. */
const ORIGINS = Symbol("origins of decrypted values");

export type DecryptedOrigin = {
  readonly associatedData: string;
  readonly keyId: string;
  readonly stored: Value;
};
type DecryptedOrigins = Readonly<Record<string, DecryptedOrigin>>;

export class EncryptedColumns {
  readonly #ring: KeyRing | undefined;
  readonly #encrypts: boolean;

  constructor({ ring, transcript }: Pick<Encryption, "ring" | "transcript">) {
    this.#ring = ring;
    this.#encrypts = transcript;
  }

  /** The options with which another thread creates the same object. */
  get options(): EncryptionOptions {
    return { keys: this.#ring?.references ?? "", transcript: this.#encrypts };
  }

  /** The key that encrypts new values; absent if they stay plain. */
  get writeKeyId(): string | undefined {
    return this.#encrypts ? this.#ring?.writeKeyId : undefined;
  }

  /** Wraps work so that an engine receives only encrypted values. */
  *encryptWork<T>(work: Work<T>): EncryptedWork<T> {
    let step = work.next();
    while (step.done !== true) {
      // The search index would contain readable words.
      const isLeftOut = step.value.isSearchText === true && this.writeKeyId !== undefined;
      const rows = isLeftOut ? [] : yield this.#encryptStatement(step.value);
      step = work.next(this.#decryptRows(rows));
    }
    return step.value;
  }

  #encryptStatement(statement: Statement<StatementValue>): Statement {
    return statement.values.some((value) => value instanceof ValueToEncrypt)
      ? { ...statement, values: statement.values.map((value) => this.#encryptValue(value)) }
      : (statement as Statement);
  }

  #encryptValue(given: StatementValue): Value {
    if (!(given instanceof ValueToEncrypt)) return given;
    const { value, associatedData } = given;
    if (this.#ring === undefined || this.writeKeyId === undefined) return value;
    const plain = typeof value === "string" ? Buffer.from(value, "utf8") : value;
    const associatedBytes = Buffer.from(associatedData, "utf8");
    const head = Buffer.alloc(HEAD_BYTES);
    MARK.copy(head);
    head.writeUInt16BE(associatedBytes.length, MARK.length);
    const bytes = Buffer.concat([
      head,
      associatedBytes,
      this.#ring.encrypt("transcript", plain, associatedData),
    ]);
    return typeof value === "string" ? `${TEXT_MARK}${bytes.toString("base64")}` : bytes;
  }

  #decryptRows(rows: readonly unknown[]): readonly unknown[] {
    return rows.map((row) => this.#decryptRow(row as Record<string, unknown>));
  }

  #decryptRow(row: Record<string, unknown>): unknown {
    let decrypted: Record<string, unknown> | undefined;
    let origins: Record<string, DecryptedOrigin> | undefined;
    for (const name of Object.keys(row)) {
      const stored = row[name];
      const bytes = readEncryptedBytes(stored);
      if (bytes === undefined) continue;
      const { plain, associatedData, keyId } = this.#decryptBytes(bytes);
      decrypted ??= { ...row };
      decrypted[name] = typeof stored === "string" ? plain.toString("utf8") : plain;
      origins ??= {};
      origins[name] = { associatedData, keyId, stored: stored as Value };
    }
    if (decrypted === undefined) return row;
    return Object.defineProperty(decrypted, ORIGINS, { value: origins });
  }

  #decryptBytes(bytes: Buffer): { plain: Buffer; associatedData: string; keyId: string } {
    const end = HEAD_BYTES + (bytes.length < HEAD_BYTES ? 0 : bytes.readUInt16BE(MARK.length));
    const associatedData = bytes.toString("utf8", HEAD_BYTES, end);
    const encrypted = bytes.subarray(end);
    const keyId = readKeyId(encrypted) ?? "";
    try {
      if (this.#ring === undefined) throw createMissingKeyError(keyId, []);
      return {
        plain: this.#ring.decrypt("transcript", encrypted, associatedData),
        associatedData,
        keyId,
      };
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      throw new StoreError("other", `The transcript cannot be read at ${associatedData}: ${error.message}`, {
        cause: error,
      });
    }
  }
}

/** @param store - The store's name in the message if the keys are unusable. */
export function createEncryptedColumns(
  store: string,
  options: EncryptionOptions | undefined,
): EncryptedColumns {
  try {
    return new EncryptedColumns(resolveEncryption(options));
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new StoreError("other", `${store} cannot be opened: ${error.message}`, { cause: error });
  }
}

function readEncryptedBytes(stored: unknown): Buffer | undefined {
  if (typeof stored === "string") {
    return stored.startsWith(TEXT_MARK) ? Buffer.from(stored.slice(TEXT_MARK.length), "base64") : undefined;
  }
  if (!(stored instanceof Uint8Array || stored instanceof ArrayBuffer)) return undefined;
  const bytes =
    stored instanceof ArrayBuffer
      ? Buffer.from(stored)
      : Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  return bytes[0] === MARK[0] && bytes[1] === MARK[1] ? bytes : undefined;
}

/** Returns the origin of a decrypted value, or undefined for a plain one. */
export function getDecryptedOrigin(row: object, column: string): DecryptedOrigin | undefined {
  return (row as { readonly [ORIGINS]?: DecryptedOrigins })[ORIGINS]?.[column];
}

/** Returns the value of a private column. Throws if it was encrypted for another row or column. */
export function decryptColumn<Row extends object, Column extends keyof Row & string>(
  row: Row,
  column: Column,
  associatedData: string,
): Row[Column] {
  const origin = getDecryptedOrigin(row, column);
  if (origin !== undefined && origin.associatedData !== associatedData) {
    throw new StoreError(
      "damaged",
      `The transcript contains at ${associatedData} a value that was encrypted for ${origin.associatedData}: it was moved.`,
    );
  }
  return row[column];
}

/** Decrypts the newest values, so that a missing key is detected at the opening and not during a run. */
export function* checkKeys(): Work<void> {
  yield* get("SELECT body FROM definitions LIMIT 1");
  yield* get(
    "SELECT message FROM entries WHERE message IS NOT NULL ORDER BY branch DESC, position DESC LIMIT 1",
  );
}
