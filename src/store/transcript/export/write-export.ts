import { createHash, type Hash } from "node:crypto";
import { EXPORT_VERSION, type HeaderLine } from "../../../schema/export-line.ts";
import type { Archive } from "../archive.ts";
import { LineChecksums } from "./line-checksums.ts";

/** Writes a file's text, line by line. @param sessions - The requested session comes first. */
export async function* writeExportText(
  archive: Pick<Archive, "readLines">,
  sessions: readonly string[],
  exportedAt: Date,
): AsyncGenerator<string, void, void> {
  const sums = new LineChecksums();
  const header: HeaderLine = {
    type: "holdfast-export",
    version: EXPORT_VERSION,
    exportedAt: exportedAt.toISOString(),
    sessions: [...sessions],
  };
  yield `${sums.addChecksum(JSON.stringify(header))}\n`;
  let lines = 1;
  for (const session of sessions) {
    for await (const line of archive.readLines(session)) {
      yield `${sums.addChecksum(JSON.stringify(line))}\n`;
      lines += 1;
    }
  }
  yield `${sums.addChecksum(JSON.stringify({ type: "end", lines, sha256: sums.digest }))}\n`;
}

/** Computes the digest of sessions. It is the same for every export of them. */
export async function computeDigest(
  archive: Pick<Archive, "readLines">,
  sessions: readonly string[],
): Promise<string> {
  const digest = new BodyDigest();
  for (const session of sessions) {
    for await (const line of archive.readLines(session)) digest.add(JSON.stringify(line));
  }
  return digest.value;
}

/** The SHA-256 of the lines between the first and the last, without their checksums. */
export class BodyDigest {
  readonly #hash: Hash = createHash("sha256");

  add(body: string): void {
    this.#hash.update(body, "utf8").update("\n");
  }

  get value(): string {
    return this.#hash.copy().digest("hex");
  }
}
