import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** The maximum size of an agent file, a prompt, or a table of keys. */
const MAX_TEXT_BYTES = 2 * 1024 * 1024;

/**
 * Reads the text of a regular file of a bounded size. Pipes and devices are rejected before they are read, because they
 * may block or never end. The error's message is a reason: "it is a folder".
 */
export function readTextFile(path: string, maxBytes = MAX_TEXT_BYTES): string {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new Error("it is a folder");
    if (!stat.isFile()) throw new Error("it is not a regular file, but a pipe, a socket or a device");
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    // Files of /proc report a size of 0, so only the bytes read count.
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) return bytes.toString("utf8", 0, length);
      length += read;
    }
    throw new Error(`it has more than ${maxBytes / 1024 / 1024} MiB`);
  } finally {
    closeSync(file);
  }
}

/** Describes why `readTextFile` failed, as part of a sentence: "there is no such file". */
export function describeReadError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "there is no such file" : message;
}
