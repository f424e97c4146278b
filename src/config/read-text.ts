import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** No agent, prompt or table of keys is longer. */
const MAX_TEXT_BYTES = 2 * 1024 * 1024;

/**
 * The text of a regular file of a bounded size. A pipe, which may never give anything, and a device, which may never end,
 * are refused before they are read. The error's message is a reason: "it is a folder".
 */
export function readTextFile(path: string, maxBytes = MAX_TEXT_BYTES): string {
  // Opening a pipe would wait for somebody who writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new Error("it is a folder");
    if (!stat.isFile()) throw new Error("it is not a regular file, but a pipe, a socket or a device");
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    // Files of /proc say that they are empty: what counts is what comes.
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
