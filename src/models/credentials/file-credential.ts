import { readFile, stat } from "node:fs/promises";
import { ProviderError } from "../provider-error.ts";
import { type FetchedCredential, parseFetchedValue } from "./fetched-credential.ts";

/** Larger files are not keys. */
const MAX_BYTES = 64 * 1024;

/** Permission bits for users other than the owner. */
const OTHERS_MODE = 0o077;

/** A credential in a file. It is read again when the file was replaced or has changed. */
export class FileCredential implements FetchedCredential {
  readonly #name: string;
  readonly #path: string;
  readonly #warn: (message: string) => void;
  #hasWarned = false;
  #lastVersion: string | undefined;
  value: string | undefined;

  constructor(name: string, path: string, warn: (message: string) => void) {
    this.#name = name;
    this.#path = path;
    this.#warn = warn;
  }

  async prepare(): Promise<void> {
    try {
      const facts = await stat(this.#path);
      const { dev, ino, size, mtimeMs, ctimeMs, mode } = facts;
      // A device or a pipe has no end, or blocks until another process writes.
      if (!facts.isFile()) throw this.#createError("it is not a regular file");
      const version = [dev, ino, size, mtimeMs, ctimeMs].join(" ");
      if (version === this.#lastVersion) return;
      if (size > MAX_BYTES) throw this.#createError(`it has ${size} bytes, which is too large for a key`);
      const { value } = parseFetchedValue(await readFile(this.#path, "utf8"));
      if (value === "") throw this.#createError("it is empty");
      this.#warnAboutMode(mode);
      this.value = value;
      this.#lastVersion = version;
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw this.#createError((error as NodeJS.ErrnoException).code ?? String(error));
    }
  }

  invalidate(rejected: string | undefined): void {
    if (rejected === undefined || rejected === this.value) this.#lastVersion = undefined;
  }

  #warnAboutMode(mode: number): void {
    if (this.#hasWarned || (mode & OTHERS_MODE) === 0) return;
    this.#hasWarned = true;
    const permissions = (mode & 0o777).toString(8).padStart(3, "0");
    this.#warn(
      `${this.#name}: users other than its owner may access ${this.#path} (mode ${permissions}): run chmod 600 to restrict it to the worker`,
    );
  }

  #createError(reason: string): ProviderError {
    const what = `${this.#name}: the file ${this.#path} cannot be used: ${reason}`;
    return new ProviderError("auth", `${what}. Put the key there, or fix the credentials entry`);
  }
}
