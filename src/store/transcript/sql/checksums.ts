import { crc32 } from "node:zlib";
import { decryptColumn } from "./column-encryption.ts";
import { createDamagedError } from "./damaged.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";

// A message in a row is stored with a checksum after its JSON: a line break, which JSON.stringify never writes unescaped,
// and eight hex digits. The checksum also covers the row's other columns. Larger messages are stored under their hash.

const CHECKSUM_LENGTH = "\n00000000".length;

/** The columns of an entry's row that describe its message. */
type About = {
  readonly run: string;
  readonly position: number;
  readonly origin: string;
  readonly message_id: string | null;
};

function computeChecksum(message: string, { run, position, origin, message_id }: About): string {
  const about = crc32(`${run}\n${position}\n${origin}\n${message_id ?? ""}`);
  return crc32(message, about).toString(16).padStart(8, "0");
}

/** Adds the checksum to the JSON of a message, for its row. */
export function encodeMessage(message: string, about: About) {
  return markForEncryption(
    `${message}\n${computeChecksum(message, about)}`,
    "entries.message",
    about.run,
    about.position,
  );
}

/** Returns the JSON of a row's message, or null if it is stored under its hash. Throws if it is damaged. */
export function decodeMessage(row: About & { readonly message: string | null }): string | null {
  const stored = decryptColumn(
    row,
    "message",
    buildAssociatedData("entries.message", [row.run, row.position]),
  );
  // A message without a checksum cannot be verified.
  if (stored?.at(-CHECKSUM_LENGTH) !== "\n") return stored;
  const message = stored.slice(0, -CHECKSUM_LENGTH);
  if (stored.endsWith(computeChecksum(message, row))) return message;
  throw createDamagedError(`message ${row.position} of run ${row.run}`);
}
