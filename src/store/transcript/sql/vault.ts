import {
  type Encryption,
  type EncryptionOptions,
  encryptionOf,
} from "../../../platform/encryption/encryption.ts";
import { KeyError } from "../../../platform/encryption/key-error.ts";
import { type KeyRing, keyIdOf, missingKey } from "../../../platform/encryption/key-ring.ts";
import { StoreError } from "../store-error.ts";
import { Private } from "./private.ts";
import { type Given, get, type SealedWork, type Statement, type Value, type Work } from "./statement.ts";

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

export type Origin = { readonly place: string; readonly keyId: string; readonly stored: Value };
type Origins = Readonly<Record<string, Origin>>;

export class Vault {
  readonly #ring: KeyRing | undefined;
  readonly #seals: boolean;

  constructor({ ring, transcript }: Pick<Encryption, "ring" | "transcript">) {
    this.#ring = ring;
    this.#seals = transcript;
  }

  /** What another thread needs to make the same vault. */
  get asked(): EncryptionOptions {
    return { keys: this.#ring?.references ?? "", transcript: this.#seals };
  }

  /** The key that new values are sealed with; absent where they stay plain. */
  get writes(): string | undefined {
    return this.#seals ? this.#ring?.writes : undefined;
  }

  /** Work as an engine may carry it out. */
  *through<T>(work: Work<T>): SealedWork<T> {
    let asked = work.next();
    while (asked.done !== true) {
      // Words that are searched for would be there to be read.
      const isLeftOut = asked.value.plain === true && this.writes !== undefined;
      const rows = isLeftOut ? [] : yield this.#sealed(asked.value);
      asked = work.next(this.#opened(rows));
    }
    return asked.value;
  }

  #sealed(statement: Statement<Given>): Statement {
    return statement.values.some((value) => value instanceof Private)
      ? { ...statement, values: statement.values.map((value) => this.#sealedValue(value)) }
      : (statement as Statement);
  }

  #sealedValue(given: Given): Value {
    if (!(given instanceof Private)) return given;
    const { value, place } = given;
    if (this.#ring === undefined || this.writes === undefined) return value;
    const plain = typeof value === "string" ? Buffer.from(value, "utf8") : value;
    const where = Buffer.from(place, "utf8");
    const head = Buffer.alloc(HEAD_BYTES);
    MARK.copy(head);
    head.writeUInt16BE(where.length, MARK.length);
    const bytes = Buffer.concat([head, where, this.#ring.seal("transcript", plain, place)]);
    return typeof value === "string" ? `${TEXT_MARK}${bytes.toString("base64")}` : bytes;
  }

  #opened(rows: readonly unknown[]): readonly unknown[] {
    return rows.map((row) => this.#openedRow(row as Record<string, unknown>));
  }

  #openedRow(row: Record<string, unknown>): unknown {
    let opened: Record<string, unknown> | undefined;
    let origins: Record<string, Origin> | undefined;
    for (const name of Object.keys(row)) {
      const stored = row[name];
      const bytes = sealedBytes(stored);
      if (bytes === undefined) continue;
      const { plain, place, keyId } = this.#openedBytes(bytes);
      opened ??= { ...row };
      opened[name] = typeof stored === "string" ? plain.toString("utf8") : plain;
      origins ??= {};
      origins[name] = { place, keyId, stored: stored as Value };
    }
    if (opened === undefined) return row;
    return Object.defineProperty(opened, ORIGINS, { value: origins });
  }

  #openedBytes(bytes: Buffer): { plain: Buffer; place: string; keyId: string } {
    const end = HEAD_BYTES + (bytes.length < HEAD_BYTES ? 0 : bytes.readUInt16BE(MARK.length));
    const place = bytes.toString("utf8", HEAD_BYTES, end);
    const sealed = bytes.subarray(end);
    const keyId = keyIdOf(sealed) ?? "";
    try {
      if (this.#ring === undefined) throw missingKey(keyId, []);
      return { plain: this.#ring.open("transcript", sealed, place), place, keyId };
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      throw new StoreError("other", `The transcript cannot be read here, at ${place}: ${error.message}`, {
        cause: error,
      });
    }
  }
}

/** @param store - For the message, when the keys cannot be used. */
export function vaultFor(store: string, options: EncryptionOptions | undefined): Vault {
  try {
    return new Vault(encryptionOf(options));
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new StoreError("other", `${store} cannot be opened: ${error.message}`, { cause: error });
  }
}

function sealedBytes(stored: unknown): Buffer | undefined {
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
export function originOf(row: object, column: string): Origin | undefined {
  return (row as { readonly [ORIGINS]?: Origins })[ORIGINS]?.[column];
}

/** What a private column says; throws when what is there was sealed for another place. */
export function wordsIn<Row extends object, Column extends keyof Row & string>(
  row: Row,
  column: Column,
  place: string,
): Row[Column] {
  const origin = originOf(row, column);
  if (origin !== undefined && origin.place !== place) {
    throw new StoreError(
      "damaged",
      `The transcript has at ${place} what was sealed for ${origin.place}: it was moved.`,
    );
  }
  return row[column];
}

/** Meets what was sealed last, so that a store whose key is not here is found at the door and not in the middle of a run. */
export function* tryKeys(): Work<void> {
  yield* get("SELECT body FROM definitions LIMIT 1");
  yield* get(
    "SELECT message FROM entries WHERE message IS NOT NULL ORDER BY branch DESC, position DESC LIMIT 1",
  );
}
