import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where one machine keeps what belongs together: everything below one folder. */
export type Home = {
  readonly folder: string;
  /** The transcript of every session. */
  readonly transcript: string;
  /** Live output, and what else is not a record. */
  readonly live: string;
  /** The dev server's own database and log. */
  readonly server: string;
};

/** @param folder - Else `HOLDFAST_HOME`, else `.holdfast` in the user's home. */
export function resolveHome(folder = process.env["HOLDFAST_HOME"] ?? join(homedir(), ".holdfast")): Home {
  const root = resolve(folder);
  return {
    folder: root,
    transcript: join(root, "transcript.db"),
    live: join(root, "live"),
    server: join(root, "server"),
  };
}

/** Where Temporal's dev server keeps its state, below the folder of its own. */
export function getServerDatabasePath(folder: string): string {
  return join(folder, "temporal.sqlite");
}

/** The task queue that workers poll and clients start runs on, unless said otherwise. */
export const DEFAULT_TASK_QUEUE = "holdfast";
