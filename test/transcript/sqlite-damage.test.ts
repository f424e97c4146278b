import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toFailure } from "../../src/activities/step/failure.ts";
import { checkIntegrity } from "../../src/store/transcript/sqlite/integrity.ts";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { isThorough } from "../support/test-depth.ts";
import { entry, opening, write } from "./sample-writes.ts";
import { catchStoreError } from "./sqlite-fixture.ts";

// A file whose pages are intact, but whose data is not.

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-damage-"));
  path = join(folder, "transcript.db");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function damagedBy(statement: string): Promise<SqliteTranscript> {
  const transcript = await SqliteTranscript.open({ path });
  const { loopId } = await transcript.openLoop(opening());
  await transcript.store(
    write(
      { loopId, branch: "main", base: 1 },
      { entries: [entry(1, "short"), entry(2, "long ".repeat(20_000))] },
    ),
  );
  const sql = new SqliteConnection(path);
  sql.exec(statement);
  sql.close();
  return transcript;
}

const DAMAGES = [
  ["truncated JSON", `UPDATE entries SET message = '{"role":' WHERE position = 1`],
  ["a message that is not JSON", "UPDATE entries SET message = 'undefined' WHERE position = 1"],
  [
    "a short message with one changed letter",
    "UPDATE entries SET message = replace(message, 'short', 'shirt') WHERE position = 1",
  ],
  ["a short message with a wrong checksum", "UPDATE entries SET message = message || '0'"],
  [
    "a short message at another position",
    "UPDATE entries SET message = (SELECT message FROM entries WHERE position = 0) WHERE position = 1",
  ],
  ["a short message with another origin", "UPDATE entries SET origin = 'tool' WHERE position = 1"],
  [
    "a long text with one changed letter",
    "UPDATE contents SET body = CAST(replace(CAST(body AS TEXT), 'g l', 'g L') AS BLOB)",
  ],
  [
    "a missing text",
    "PRAGMA foreign_keys = OFF; UPDATE entries SET content = 'nowhere' WHERE content IS NOT NULL",
  ],
  ["a missing column", "ALTER TABLE entries RENAME COLUMN origin TO other"],
] as const;

// `npm test` tries every third one.
test.each(DAMAGES.filter((_, nth) => isThorough || nth % 3 === 0))(
  "%s is reported as damage, with what to do, and not retried",
  async (_, statement) => {
    const transcript = await damagedBy(statement);
    const error = await catchStoreError(transcript.readEntries("s", "main", 0, 9));
    expect(error.fault).toBe("damaged");
    expect(error.message).toMatch(/[Rr]estore a backup/);
    expect(error.message).not.toContain("report this");
    expect(toFailure(error)).toMatchObject({ type: "store/damaged", nonRetryable: true });
    await transcript.close();
  },
);

test("an intact file is sound, and a missing file is absent", async () => {
  expect(await checkIntegrity(path)).toEqual({ type: "absent" });
  await (await SqliteTranscript.open({ path })).close();
  expect(await checkIntegrity(path)).toEqual({ type: "sound" });
});
