import { readFile, stat } from "node:fs/promises";
import { ProviderError } from "../provider-error.ts";
import { type FetchedCredential, readFetched } from "./credential.ts";

/** Larger files hold something else. */
const MAX_BYTES = 64 * 1024;

/** Who else may read or write it. */
const OTHERS = 0o077;

/** What a file holds. Read again when the file is another one, or has changed. */
export class FileCredential implements FetchedCredential {
  readonly #name: string;
  readonly #path: string;
  readonly #warn: (message: string) => void;
  #isWarned = false;
  #seen: string | undefined;
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
      // A device or a pipe has no end, or waits for one who writes.
      if (!facts.isFile()) throw this.#failed("it is no file");
      const seen = [dev, ino, size, mtimeMs, ctimeMs].join(" ");
      if (seen === this.#seen) return;
      if (size > MAX_BYTES) throw this.#failed(`it has ${size} bytes, more than a key can have`);
      const { value } = readFetched(await readFile(this.#path, "utf8"));
      if (value === "") throw this.#failed("it is empty");
      this.#warnOf(mode);
      this.value = value;
      this.#seen = seen;
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw this.#failed((error as NodeJS.ErrnoException).code ?? String(error));
    }
  }

  forget(refused: string | undefined): void {
    if (refused === undefined || refused === this.value) this.#seen = undefined;
  }

  #warnOf(mode: number): void {
    if (this.#isWarned || (mode & OTHERS) === 0) return;
    this.#isWarned = true;
    const said = (mode & 0o777).toString(8).padStart(3, "0");
    this.#warn(
      `${this.#name}: others than its owner may open ${this.#path} (mode ${said}): chmod 600 keeps it to the worker`,
    );
  }

  #failed(why: string): ProviderError {
    const what = `${this.#name}: the file ${this.#path} cannot be used: ${why}`;
    return new ProviderError("auth", `${what}. Put the key there, or mend the credentials entry`);
  }
}
