import { createHash } from "node:crypto";
import { join } from "node:path";

/** Names that are the same file on no file system, whatever its idea of case. */
const PLAIN = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** Where a session's deltas lie. Any text is a session id; none leads out of the folder. */
export function getSessionFolder(live: string, session: string): string {
  if (PLAIN.test(session)) return join(live, session);
  const readable = session.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
  const hash = createHash("sha256").update(session, "utf8").digest("hex").slice(0, 20);
  return join(live, `${readable}~${hash}`);
}
