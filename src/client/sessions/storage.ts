import { existsSync } from "node:fs";
import type { Home } from "../../config/home.ts";
import { KeyError } from "../../platform/encryption/key-error.ts";
import type { EncryptionOptions } from "../../platform/encryption/resolve-encryption.ts";
import { openHub } from "../../store/stream/open-hub.ts";
import type { StreamHub } from "../../store/stream/stream-hub.ts";
import { openTranscript, type TranscriptLocation } from "../../store/transcript/open-transcript.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** The stores on this machine or in the database, opened on first use. Does not close stores that the caller passed in. */
export class Storage {
  readonly home: Home;
  /** The database that holds all stores, if one is specified. */
  readonly database: string | undefined;
  readonly #provided: {
    readonly transcript: Transcript | undefined;
    readonly hub: StreamHub | undefined;
  };
  #transcript: Promise<Transcript> | undefined;
  readonly #encryption: EncryptionOptions | undefined;
  #hub: Promise<StreamHub> | undefined;

  constructor(
    home: Home,
    provided: { transcript: Transcript | undefined; hub: StreamHub | undefined },
    database?: string,
    encryption?: EncryptionOptions,
  ) {
    this.home = home;
    this.database = database;
    this.#provided = provided;
    this.#encryption = encryption;
  }

  get place(): TranscriptLocation {
    return { path: this.home.transcript, database: this.database, encryption: this.#encryption };
  }

  /** Opens the transcript; creates it if there is none. */
  async openTranscript(): Promise<Transcript> {
    if (this.#provided.transcript !== undefined) return this.#provided.transcript;
    this.#transcript ??= openTranscript(this.place);
    try {
      return await this.#transcript;
    } catch (error) {
      this.#transcript = undefined;
      throw toStoreError(error);
    }
  }

  /** Opens the transcript; returns nothing if none was ever created. */
  async openExistingTranscript(): Promise<Transcript | undefined> {
    const known = this.#provided.transcript !== undefined || this.#transcript !== undefined;
    return known || this.database !== undefined || existsSync(this.home.transcript)
      ? this.openTranscript()
      : undefined;
  }

  async openHub(): Promise<StreamHub> {
    if (this.#provided.hub !== undefined) return this.#provided.hub;
    this.#hub ??= openHub({
      folder: this.home.folder,
      database: this.database,
      encryption: this.#encryption,
    });
    return this.#hub;
  }

  async close(): Promise<void> {
    const transcript = await this.#transcript?.catch(() => undefined);
    await transcript?.close();
    await (await this.#hub)?.close();
    this.#transcript = undefined;
    this.#hub = undefined;
  }
}

function toStoreError(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const code = error.cause instanceof KeyError ? "key-missing" : "store-failed";
  return new HoldfastError(code, error.message, { cause: error });
}
