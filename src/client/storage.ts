import { existsSync } from "node:fs";
import type { EncryptionOptions } from "../codec/encryption.ts";
import type { Home } from "../config/home.ts";
import { LocalHub } from "../stream/local-hub.ts";
import type { StreamHub } from "../stream/stream.ts";
import { SqliteTranscript } from "../transcript/sqlite/sqlite-transcript.ts";
import { StoreError } from "../transcript/store-error.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { HoldfastError } from "./error.ts";

/** What lies on this machine; opened when it is needed for the first time. What was given is not closed. */
export class Storage {
  readonly home: Home;
  readonly #given: { readonly transcript: Transcript | undefined; readonly hub: StreamHub | undefined };
  #transcript: Promise<Transcript> | undefined;
  readonly #encryption: EncryptionOptions | undefined;
  #hub: StreamHub | undefined;

  constructor(
    home: Home,
    given: { transcript: Transcript | undefined; hub: StreamHub | undefined },
    encryption?: EncryptionOptions,
  ) {
    this.home = home;
    this.#given = given;
    this.#encryption = encryption;
  }

  /** The transcript; makes the file when there is none. */
  async transcript(): Promise<Transcript> {
    if (this.#given.transcript !== undefined) return this.#given.transcript;
    this.#transcript ??= SqliteTranscript.open({
      path: this.home.transcript,
      encryption: this.#encryption,
    });
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
    return known || existsSync(this.home.transcript) ? this.transcript() : undefined;
  }

  hub(): StreamHub {
    if (this.#given.hub !== undefined) return this.#given.hub;
    this.#hub ??= new LocalHub(this.home.folder);
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
