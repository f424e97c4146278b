import { join } from "node:path";
import Database from "libsql";
import { onTestFinished } from "vitest";

const openDatabase = (home: string) => new Database(join(home, "transcript.db"), { timeout: 5000 });

/** Blocks every writer of the transcript until the returned function is called, or the test ends. */
export function lockTranscript(home: string): () => void {
  const database = openDatabase(home);
  database.exec("BEGIN IMMEDIATE");
  let locked = true;
  const unlock = () => {
    if (!locked) return;
    locked = false;
    database.exec("ROLLBACK");
    database.close();
  };
  onTestFinished(unlock);
  return unlock;
}

/**
 * Locks the transcript as soon as a step of this kind is claimed, so that the step's result cannot be stored.
 *
 * @param isNoted - Waits until the tool has also left its note, which it must do before it changes anything.
 */
export function lockAfterClaim(home: string, session: string, kind: string, isNoted: boolean): () => void {
  const database = openDatabase(home);
  const note = isNoted ? "AND note IS NOT NULL" : "";
  const claimed = database.prepare(`SELECT 1 FROM steps WHERE session = ? AND kind = ? ${note}`);
  const until = performance.now() + 10_000;
  while (claimed.get(session, kind) === undefined) {
    if (performance.now() > until) throw new Error(`${kind} was not claimed within 10 s`);
  }
  database.close();
  return lockTranscript(home);
}
