import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";

/** The current content of a file, as far as this machine can read it. */
export type CurrentFile =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "absent" }
  | { readonly type: "unknown" };

/** Longer files are not compared. */
const MAX_BYTES = 1024 * 1024;

/** Reads plain files only. Never blocks: it opens files without waiting, and reads no pipe or device. */
export async function readCurrentFile(workspace: string, path: string): Promise<CurrentFile> {
  try {
    const file = await open(resolve(workspace, path), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > MAX_BYTES) return { type: "unknown" };
      const text = await file.readFile("utf8");
      return text.includes("\0") ? { type: "unknown" } : { type: "text", text };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { type: (error as NodeJS.ErrnoException).code === "ENOENT" ? "absent" : "unknown" };
  }
}
