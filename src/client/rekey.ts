import { existsSync } from "node:fs";
import { type EncryptionOptions, encryptionOf } from "../codec/encryption.ts";
import { KeyError } from "../codec/key-error.ts";
import { homeAt } from "../config/home.ts";
import type { RekeyCursor } from "../transcript/sql/rekey.ts";
import { SqliteTranscript } from "../transcript/sqlite/sqlite-transcript.ts";
import { vacuum } from "../transcript/sqlite/vacuum.ts";
import { StoreError } from "../transcript/store-error.ts";
import { HoldfastError } from "./error.ts";

export type RekeyOptions = {
  /** Else `HOLDFAST_HOME`, else `~/.holdfast`. */
  readonly home?: string;
  /** Else `HOLDFAST_ENCRYPTION_KEYS`: the first key is the one that all is sealed with afterwards. */
  readonly encryption?: EncryptionOptions;
  readonly onPage?: (looked: number, changed: number) => void;
};

export type Rekeyed = {
  readonly path: string;
  /** What everything is sealed with now; absent where all is plain. */
  readonly key: string | undefined;
  readonly looked: number;
  readonly changed: number;
  /** The file was written anew: nothing is left of how it was. Not while workers use it. */
  readonly cleaned: boolean;
};

/** Seals all that the transcript of this machine holds with the first key. May be broken off and begun again. */
export async function rekey(options: RekeyOptions = {}): Promise<Rekeyed> {
  const path = homeAt(options.home).transcript;
  if (!existsSync(path)) {
    throw new HoldfastError(
      "input-invalid",
      `There is no transcript at ${path}: nothing is to be sealed anew.`,
    );
  }
  try {
    const { ring, transcript: seals } = encryptionOf(options.encryption);
    const key = seals ? ring?.writes : undefined;
    const done = await everyPage(path, key, options);
    return { path, key, ...done, cleaned: vacuum(path) };
  } catch (error) {
    if (error instanceof KeyError) {
      throw new HoldfastError("configuration-invalid", error.message, { cause: error });
    }
    if (!(error instanceof StoreError)) throw error;
    throw new HoldfastError("store-failed", error.message, { cause: error });
  }
}

async function everyPage(
  path: string,
  key: string | undefined,
  { encryption, onPage }: RekeyOptions,
): Promise<{ looked: number; changed: number }> {
  const transcript = await SqliteTranscript.open({ path, encryption });
  let looked = 0;
  let changed = 0;
  try {
    let cursor: RekeyCursor | undefined;
    do {
      const page = await transcript.rekeyPage(key, cursor);
      looked += page.looked;
      changed += page.changed;
      onPage?.(looked, changed);
      cursor = page.next;
    } while (cursor !== undefined);
  } finally {
    await transcript.close();
  }
  return { looked, changed };
}
