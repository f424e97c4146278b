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

// Between work and engine: seals what is private on its way down, opens it on its way up.
//
// A sealed value says its place in the clear, and opens with no other. Whoever reads a column says where it must have
// come from (`wordsIn`), so that a value that was moved to another row is found. Bytes begin with a mark that no UTF-8 has,
// texts with a character that no JSON begins with: what is plain is never taken for something sealed.

const MARK = Buffer.from([0xf8, 0x02]);
const TEXT_MARK = "\u0001sealed:";
const HEAD_BYTES = MARK.length + 2;

/** Where the values of a row were sealed for, with which key, and as what they are stored. */
const ORIGINS = Symbol("where sealed values came from");

export type DecryptedOrigin = { readonly place: string; readonly keyId: string; readonly stored: Value };
type DecryptedOrigins = Readonly<Record<string, DecryptedOrigin>>;

export class EncryptedColumns {
  readonly #ring: KeyRing | undefined;
  readonly #encrypts: boolean;

  constructor({ ring, transcript }: Pick<Encryption, "ring" | "transcript">) {
    this.#ring = ring;
    this.#encrypts = transcript;
  }

  /** What another thread needs to make the same vault. */
  get options(): EncryptionOptions {
    return { keys: this.#ring?.references ?? "", transcript: this.#encrypts };
  }

  /** The key that new values are sealed with; absent where they stay plain. */
  get writeKeyId(): string | undefined {
    return this.#encrypts ? this.#ring?.writeKeyId : undefined;
  }

  /** Work as an engine may carry it out. */
  *encryptWork<T>(work: Work<T>): EncryptedWork<T> {
    let step = work.next();
    while (step.done !== true) {
      // Words that are searched for would be there to be read.
      const isLeftOut = step.value.plain === true && this.writeKeyId !== undefined;
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
      const { plain, place: associatedData, keyId } = this.#decryptBytes(bytes);
      decrypted ??= { ...row };
      decrypted[name] = typeof stored === "string" ? plain.toString("utf8") : plain;
      origins ??= {};
      origins[name] = { place: associatedData, keyId, stored: stored as Value };
    }
    if (decrypted === undefined) return row;
    return Object.defineProperty(decrypted, ORIGINS, { value: origins });
  }

  #decryptBytes(bytes: Buffer): { plain: Buffer; place: string; keyId: string } {
    const end = HEAD_BYTES + (bytes.length < HEAD_BYTES ? 0 : bytes.readUInt16BE(MARK.length));
    const associatedData = bytes.toString("utf8", HEAD_BYTES, end);
    const encrypted = bytes.subarray(end);
    const keyId = readKeyId(encrypted) ?? "";
    try {
      if (this.#ring === undefined) throw createMissingKeyError(keyId, []);
      return {
        plain: this.#ring.decrypt("transcript", encrypted, associatedData),
        place: associatedData,
        keyId,
      };
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      throw new StoreError(
        "other",
        `The transcript cannot be read here, at ${associatedData}: ${error.message}`,
        {
          cause: error,
        },
      );
    }
  }
}

/** @param store - For the message, when the keys cannot be used. */
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

/** Of a value that was sealed; nothing of one that is stored plain. */
export function getDecryptedOrigin(row: object, column: string): DecryptedOrigin | undefined {
  return (row as { readonly [ORIGINS]?: DecryptedOrigins })[ORIGINS]?.[column];
}

/** What a private column says; throws when what is there was sealed for another place. */
export function decryptColumn<Row extends object, Column extends keyof Row & string>(
  row: Row,
  column: Column,
  associatedData: string,
): Row[Column] {
  const origin = getDecryptedOrigin(row, column);
  if (origin !== undefined && origin.place !== associatedData) {
    throw new StoreError(
      "damaged",
      `The transcript has at ${associatedData} what was sealed for ${origin.place}: it was moved.`,
    );
  }
  return row[column];
}

/** Meets what was sealed last, so that a store whose key is not here is found at the door and not in the middle of a run. */
export function* checkKeys(): Work<void> {
  yield* get("SELECT body FROM definitions LIMIT 1");
  yield* get(
    "SELECT message FROM entries WHERE message IS NOT NULL ORDER BY branch DESC, position DESC LIMIT 1",
  );
}
