import { existsSync } from "node:fs";
import type { Home } from "../../config/home.ts";
import type { EncryptionOptions } from "../../platform/encryption/encryption.ts";
import { openHub } from "../../store/stream/open-hub.ts";
import type { StreamHub } from "../../store/stream/stream.ts";
import { openTranscript, type TranscriptPlace } from "../../store/transcript/open-transcript.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../error.ts";

/** What lies on this machine, or in the database; opened when it is needed for the first time. What was given is not closed. */
export class Storage {
  readonly home: Home;
  /** The database that holds all of it, where one is named. */
  readonly database: string | undefined;
  readonly #given: { readonly transcript: Transcript | undefined; readonly hub: StreamHub | undefined };
  #transcript: Promise<Transcript> | undefined;
  readonly #encryption: EncryptionOptions | undefined;
  #hub: StreamHub | undefined;

  constructor(
    home: Home,
    given: { transcript: Transcript | undefined; hub: StreamHub | undefined },
    database?: string,
    encryption?: EncryptionOptions,
  ) {
    this.home = home;
    this.database = database;
    this.#given = given;
    this.#encryption = encryption;
  }

  get place(): TranscriptPlace {
    return { path: this.home.transcript, database: this.database, encryption: this.#encryption };
  }

  /** The transcript; makes it when there is none. */
  async transcript(): Promise<Transcript> {
    if (this.#given.transcript !== undefined) return this.#given.transcript;
    this.#transcript ??= openTranscript(this.place);
    try {
      return await this.#transcript;
    } catch (error) {
      this.#transcript = undefined;
      throw storeFailed(error);
    }
  }

  /** The transcript, unless nothing was ever written here. */
  async existing(): Promise<Transcript | undefined> {
    const known = this.#given.transcript !== undefined || this.#transcript !== undefined;
    return known || this.database !== undefined || existsSync(this.home.transcript)
      ? this.transcript()
      : undefined;
  }

  hub(): StreamHub {
    if (this.#given.hub !== undefined) return this.#given.hub;
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
    await this.#hub?.close();
    this.#transcript = undefined;
    this.#hub = undefined;
  }
}

function storeFailed(error: unknown): unknown {
  return error instanceof StoreError
    ? new HoldfastError("store-failed", error.message, { cause: error })
    : error;
}
