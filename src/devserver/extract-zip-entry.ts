import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { openPromise } from "yauzl";

/** Writes one entry of a zip archive to a file. Rejects if its size is not the one that the archive states. */
export async function extractZipEntry(archive: string, name: string, target: string): Promise<void> {
  const zip = await openPromise(archive);
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== name) continue;
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target, { flags: "wx" }));
      return;
    }
  } finally {
    zip.close();
  }
  throw new Error(`the zip archive does not contain ${name}`);
}
