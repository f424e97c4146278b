import { join } from "node:path";
import { expect, test } from "vitest";
import { checkFile, createIdMap, importFile } from "../../src/store/transcript/export/import-file.ts";
import { writeExportText } from "../../src/store/transcript/export/write-export.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { createKeyEnvironment } from "../codec/key-environment.ts";
import { NO_POSTGRES } from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { listLines, writeSampleSession } from "./archive-contract.ts";
import { findMissingPostgres, PostgresFixture } from "./postgres-fixture.ts";
import { entry, message, opening, readTexts, step, USAGE, write } from "./sample-writes.ts";
import { SqliteFixture } from "./sqlite-fixture.ts";

Object.assign(process.env, createKeyEnvironment("TEST_BETWEEN_A", "TEST_BETWEEN_B"));
const PLAIN = { keys: "" };
const A = { keys: "a=env:TEST_BETWEEN_A" };
const B = { keys: "b=env:TEST_BETWEEN_B" };

const CHILD = "s.sub-12345678";

/** Writes two loops, a branch, a queued message, a sub-agent, and characters that PostgreSQL's text type cannot store. */
async function tell(transcript: Transcript): Promise<void> {
  await writeSampleSession(transcript);
  const [caller] = await transcript.readLoops("s");
  const spawn = { session: "s", loopId: caller?.loopId ?? "", turn: 0, toolCallId: "c1", toolName: "scout" };
  const at = (number: number) => step({ session: CHILD, run: "rc", number });
  const odd = message("\uFDD0 and 😀", "nul \0 in a text, \uFDD0 and 😀");
  const { loopId } = await transcript.openLoop(opening({ step: at(0), spawn, prompts: [odd] }));
  const place = { loopId, branch: "main", base: 1 };
  await transcript.store(write(place, { step: at(1), entries: [entry(1, "found it")] }));
  await transcript.closeLoop({
    ...write({ ...place, base: 2 }, { step: at(2) }),
    status: "completed",
    outcome: { type: "answered", stopReason: "stop" },
    usage: USAGE,
    costUsd: 0.5,
    turns: 1,
    to: 2,
  });
}

async function written(transcript: Transcript): Promise<string> {
  let text = "";
  for await (const line of writeExportText(transcript.archive, ["s", CHILD], new Date(0))) text += line;
  return text;
}

async function bringIn(transcript: Transcript, text: string): Promise<void> {
  const open = async function* () {
    yield Buffer.from(text);
  };
  const checked = await checkFile(open);
  await importFile(transcript.archive, open, checked, createIdMap(checked.header.sessions, undefined));
}

describeIf(findMissingPostgres() === undefined, NO_POSTGRES)(
  "an exported session, moved between the stores",
  () => {
    const files = SqliteFixture.forEachTest();
    const databases = PostgresFixture.forEachTest();
    const inFile = (name: string, encryption: { keys: string }) =>
      files.open({ path: join(files.folder, name), encryption });
    const inDatabase = (name: string, encryption: { keys: string }) =>
      databases.open({
        url: databases.formatUrl({ schema: `${databases.schema}_${name}` }),
        encryption,
      });

    test.each([
      ["from SQLite to PostgreSQL and back", inFile, inDatabase],
      ["from PostgreSQL to SQLite and back", inDatabase, inFile],
    ])(
      "%s: the file stays the same, whatever keys the stores have, and the session continues [HITL-02.3]",
      async (_way, first, other) => {
        const from = await first("from", PLAIN);
        await tell(from);
        const text = await written(from);
        const there = await other("there", A);
        await bringIn(there, text);
        expect(await written(there)).toBe(text);
        const back = await first("back", B);
        await bringIn(back, await written(there));
        expect(await written(back)).toBe(text);
        for (const session of ["s", CHILD]) {
          const loops = await from.readLoops(session);
          for (const brought of [there, back]) {
            expect(await listLines(brought, session)).toEqual(await listLines(from, session));
            expect(await brought.readSession(session)).toEqual(await from.readSession(session));
            expect(await brought.readLoops(session)).toEqual(loops);
            expect(await brought.readInbox(session)).toEqual(await from.readInbox(session));
            for (const { loopId, branch } of loops) {
              expect(await readTexts(brought, session, branch)).toEqual(
                await readTexts(from, session, branch),
              );
              expect(await brought.readEvents(loopId, 0)).toEqual(await from.readEvents(loopId, 0));
            }
          }
        }
        const next = opening({ step: step({ run: "r2", number: 0 }), prompts: [] });
        const { loopId, from: begin } = await from.openLoop(next);
        expect(await there.openLoop(next)).toMatchObject({ loopId, from: begin });
        expect(await back.openLoop(next)).toMatchObject({ loopId, from: begin });
      },
    );
  },
);
