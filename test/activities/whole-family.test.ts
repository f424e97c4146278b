import { expect, test } from "vitest";
import {
  deleteFamily,
  findDeletableFamily,
  finishInterrupted,
} from "../../src/activities/retain/session-family.ts";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import type { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { message, opening, readTexts, step } from "../transcript/sample-writes.ts";
import { SqliteFixture } from "../transcript/sqlite-fixture.ts";

const bench = SqliteFixture.forEachTest();

/** A session, a session that it called, and a session that this one called. */
async function family(): Promise<SqliteTranscript> {
  const transcript = await bench.open();
  for (const [session, caller] of [["a"], ["a.b", "a"], ["a.b.c", "a.b"], ["other"]] as const) {
    const spawn = { session: caller ?? "", loopId: "l", turn: 0, toolCallId: "c", toolName: "scout" };
    await transcript.openLoop(
      opening({
        step: step({ session, run: session, number: 0 }),
        prompts: [message(session)],
        ...(caller === undefined ? {} : { spawn }),
      }),
    );
  }
  return transcript;
}

async function toGo(transcript: SqliteTranscript, needed: readonly string[] = []) {
  const root = (await transcript.readSession("a"))!;
  const found = await findDeletableFamily(root, transcript, async (session) => needed.includes(session));
  return found?.map(({ id }) => id);
}

test("a session is deleted with all its descendants, unless one of them is pinned or needed [SES-20.1]", async () => {
  const transcript = await family();
  expect(await toGo(transcript)).toEqual(["a", "a.b", "a.b.c"]);
  expect(await toGo(transcript, ["other"])).toHaveLength(3);
  for (const one of ["a", "a.b", "a.b.c"]) expect(await toGo(transcript, [one]), one).toBeUndefined();
  for (const one of ["a.b", "a.b.c"]) {
    await transcript.archive.setScope(one, "persistent");
    expect(await toGo(transcript), one).toBeUndefined();
    await transcript.archive.setScope(one, "ephemeral");
  }
});

test("a deleted family leaves no data and does not affect others", async () => {
  const transcript = await family();
  const forgotten: string[] = [];
  const found = await findDeletableFamily(
    (await transcript.readSession("a"))!,
    transcript,
    async () => false,
  );
  await deleteFamily(found ?? [], {
    transcript,
    deleteLiveOutput: async (session) => void forgotten.push(session),
    beat: () => undefined,
  });
  expect(forgotten.sort()).toEqual(["a", "a.b", "a.b.c"]);
  expect((await transcript.findSessions({ limit: 9 })).map(({ id }) => id)).toEqual(["other"]);
  expect(await transcript.archive.listUnfinished()).toEqual([]);
});

test("an interrupted deletion is finished, even if another session shows a part of the session", async () => {
  const transcript = await family();
  await transcript.fork({ session: "a", atMs: 1, at: {}, into: "heir" });
  const sql = new SqliteConnection(bench.path);
  sql.run("UPDATE sessions SET hidden = 'deleting' WHERE id = 'a'");
  sql.close();
  const forgotten: string[] = [];
  const forget = async (session: string) => void forgotten.push(session);
  await finishInterrupted({ transcript, deleteLiveOutput: forget, beat: () => undefined });
  expect(forgotten).toEqual(["a"]);
  expect(await transcript.archive.listUnfinished()).toEqual([]);
  expect(await readTexts(transcript, "heir", "main")).toEqual(["text of a"]);
});

test("a family whose first session received a message meanwhile stays; a descendant that did is left alone", async () => {
  const transcript = await family();
  const deleting = { transcript, deleteLiveOutput: async () => undefined, beat: () => undefined };
  const found = await findDeletableFamily(
    (await transcript.readSession("a"))!,
    transcript,
    async () => false,
  );
  const speak = (session: string, run: string) =>
    transcript.openLoop(
      opening({ step: step({ session, run, number: 0 }), atMs: 500, prompts: [message(run)] }),
    );
  await speak("a.b", "late");
  await speak("a", "later");
  expect(await deleteFamily(found ?? [], deleting)).toBe(false);
  expect(await transcript.findSessions({ limit: 9 })).toHaveLength(4);
  const [, ...below] = found ?? [];
  const again = await findDeletableFamily(
    (await transcript.readSession("a"))!,
    transcript,
    async () => false,
  );
  expect(await deleteFamily([again![0]!, ...below], deleting)).toBe(true);
  expect((await transcript.findSessions({ limit: 9 })).map(({ id }) => id).sort()).toEqual(["a.b", "other"]);
});
