import { createHash } from "node:crypto";

// Each line contains a part of the SHA-256 of itself and of all lines before it, so that damage is located: a line that
// was changed, is missing, or was moved.

const SUM_CHARS = 16;
const SUM = /,"sum":"([0-9a-f]{16})"\}$/;

export class LineChecksums {
  #previous = "";
  readonly #all = createHash("sha256");

  /** @param body - One JSON object. */
  addChecksum(body: string): string {
    const line = `${body.slice(0, -1)},"sum":"${this.#nextChecksum(body)}"}`;
    this.#all.update(`${line}\n`);
    return line;
  }

  /** Returns the object without its checksum, or undefined if the checksum is wrong. */
  verifyChecksum(line: string): string | undefined {
    const found = SUM.exec(line.slice(-SUM_CHARS - 16));
    if (found === null) return undefined;
    const body = `${line.slice(0, -found[0].length)}}`;
    if (this.#nextChecksum(body) !== found[1]) return undefined;
    this.#all.update(`${line}\n`);
    return body;
  }

  /** The digest of all bytes so far. */
  get digest(): string {
    return this.#all.copy().digest("hex");
  }

  #nextChecksum(body: string): string {
    this.#previous = createHash("sha256").update(this.#previous).update(body, "utf8").digest("hex");
    return this.#previous.slice(0, SUM_CHARS);
  }
}
