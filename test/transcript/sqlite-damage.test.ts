import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asFailure } from "../../src/activities/failure.ts";
import { soundness } from "../../src/transcript/sqlite/soundness.ts";
import { Sql } from "../../src/transcript/sqlite/sql.ts";
import { SqliteTranscript } from "../../src/transcript/sqlite/sqlite-transcript.ts";
import { storeErrorOf } from "./sqlite-bench.ts";
import { entry, opening, write } from "./story.ts";

// A file whose pages hold together, and whose words do not.

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
  const sql = new Sql(path);
  sql.exec(statement);
  sql.close();
  return transcript;
}

test.each([
  ["JSON that was cut", `UPDATE entries SET message = '{"role":' WHERE position = 1`],
  ["JSON that is gone", "UPDATE entries SET message = 'undefined' WHERE position = 1"],
  [
    "a short message with one other letter",
    "UPDATE entries SET message = replace(message, 'short', 'shirt') WHERE position = 1",
  ],
  ["a short message whose checksum is another", "UPDATE entries SET message = message || '0'"],
  [
    "a short message that stands at another place",
    "UPDATE entries SET message = (SELECT message FROM entries WHERE position = 0) WHERE position = 1",
  ],
  ["a short message of another origin", "UPDATE entries SET origin = 'tool' WHERE position = 1"],
  [
    "a long text with one other letter",
    "UPDATE contents SET body = CAST(replace(CAST(body AS TEXT), 'g l', 'g L') AS BLOB)",
  ],
  [
    "a text that is gone",
    "PRAGMA foreign_keys = OFF; UPDATE entries SET content = 'nowhere' WHERE content IS NOT NULL",
  ],
  ["a column that is gone", "ALTER TABLE entries RENAME COLUMN origin TO other"],
])("%s is damage, said with what to do, and not tried again", async (_, statement) => {
  const transcript = await damagedBy(statement);
  const error = await storeErrorOf(transcript.entries("s", "main", 0, 9));
  expect(error.fault).toBe("damaged");
  expect(error.message).toMatch(/[Rr]estore a backup/);
  expect(error.message).not.toContain("report this");
  expect(asFailure(error)).toMatchObject({ type: "store/damaged", nonRetryable: true });
  await transcript.close();
});

test("a file that nothing is wrong with is sound, and one that is not there is none", async () => {
  expect(soundness(path)).toEqual({ type: "absent" });
  await (await SqliteTranscript.open({ path })).close();
  expect(soundness(path)).toEqual({ type: "sound" });
});
