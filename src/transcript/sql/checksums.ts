import { crc32 } from "node:zlib";
import { damaged } from "./damaged.ts";
import { placeOf, secret } from "./private.ts";
import { wordsIn } from "./vault.ts";

// A message that lies in its row is stored with a checksum after its JSON: a line break, which JSON.stringify never writes
// as such, and eight hex digits. It also covers what the row says of the message. Larger messages lie under their hash.

const CHECKSUM_LENGTH = "\n00000000".length;

/** What an entry's row says of its message. */
type About = {
  readonly run: string;
  readonly position: number;
  readonly origin: string;
  readonly message_id: string | null;
};

function checksumOf(message: string, { run, position, origin, message_id }: About): string {
  const about = crc32(`${run}\n${position}\n${origin}\n${message_id ?? ""}`);
  return crc32(message, about).toString(16).padStart(8, "0");
}

/** The JSON of a message as its row holds it. */
export function storedMessage(message: string, about: About) {
  return secret(`${message}\n${checksumOf(message, about)}`, "entries.message", about.run, about.position);
}

/** The JSON of a message from its row; nothing where it lies under its hash. Throws where it is not what was stored. */
export function messageIn(row: About & { readonly message: string | null }): string | null {
  const stored = wordsIn(row, "message", placeOf("entries.message", [row.run, row.position]));
  // A message that was written without a checksum has none to be held against.
  if (stored?.at(-CHECKSUM_LENGTH) !== "\n") return stored;
  const message = stored.slice(0, -CHECKSUM_LENGTH);
  if (stored.endsWith(checksumOf(message, row))) return message;
  throw damaged(`message ${row.position} of run ${row.run}`);
}
