import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The locations of one machine's data, all below one folder. */
export type Home = {
  readonly folder: string;
  /** The database of the transcripts of all sessions. */
  readonly transcript: string;
  /** Live output, and other data that is not part of a transcript. */
  readonly live: string;
  /** The dev server's own database and log. */
  readonly server: string;
};

/** @param folder - By default `HOLDFAST_HOME`, or else `.holdfast` in the user's home folder. */
export function resolveHome(folder = process.env["HOLDFAST_HOME"] ?? join(homedir(), ".holdfast")): Home {
  const root = resolve(folder);
  return {
    folder: root,
    transcript: join(root, "transcript.db"),
    live: join(root, "live"),
    server: join(root, "server"),
  };
}

/** Returns the path of the Temporal dev server's database in the server's folder. */
export function getServerDatabasePath(folder: string): string {
  return join(folder, "temporal.sqlite");
}

/** The default task queue of workers and clients. */
export const DEFAULT_TASK_QUEUE = "holdfast";
