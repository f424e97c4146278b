import { createHash } from "node:crypto";
import { join } from "node:path";

/** Names that never collide on any file system, even if it ignores case. */
const PLAIN = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** Returns the folder of a session's deltas. Any text can be a session id; none leads outside of the live folder. */
export function getSessionFolder(live: string, session: string): string {
  if (PLAIN.test(session)) return join(live, session);
  const readable = session.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
  const hash = createHash("sha256").update(session, "utf8").digest("hex").slice(0, 20);
  return join(live, `${readable}~${hash}`);
}
