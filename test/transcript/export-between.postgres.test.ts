import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkFile, importFile, namesFor } from "../../src/store/transcript/export/import-file.ts";
import { exportText } from "../../src/store/transcript/export/write-export.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { environmentOf } from "../codec/keys.ts";
import { linesOf, story } from "./archive-contract.ts";
import { missingPostgres, PostgresBench } from "./postgres-bench.ts";
import { SqliteBench } from "./sqlite-bench.ts";
import { entry, message, opening, step, texts, USAGE, write } from "./story.ts";

Object.assign(process.env, environmentOf("TEST_BETWEEN_A", "TEST_BETWEEN_B"));
const PLAIN = { keys: "" };
const A = { keys: "a=env:TEST_BETWEEN_A" };
const B = { keys: "b=env:TEST_BETWEEN_B" };

const CHILD = "s.sub-12345678";

/** Two loops, a branch, a waiting message, an agent below them, and characters that a text of PostgreSQL's cannot hold. */
async function tell(transcript: Transcript): Promise<void> {
  await story(transcript);
  const [caller] = await transcript.loops("s");
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
  for await (const line of exportText(transcript.archive, ["s", CHILD], new Date(0))) text += line;
  return text;
}

async function bringIn(transcript: Transcript, text: string): Promise<void> {
  const open = async function* () {
    yield Buffer.from(text);
  };
  const checked = await checkFile(open);
  await importFile(transcript.archive, open, checked, namesFor(checked.header.sessions, undefined));
}

describe.skipIf(missingPostgres() !== undefined)("a session as a file, between the stores", () => {
  const files = SqliteBench.forEachTest();
  const databases = PostgresBench.forEachTest();
  const inFile = (name: string, encryption: { keys: string }) =>
    files.opened({ path: join(files.folder, name), encryption });
  const inDatabase = (name: string, encryption: { keys: string }) =>
    databases.opened({
      url: databases.withParameters({ schema: `${databases.schema}_${name}` }),
      encryption,
    });

  test.each([
    ["from SQLite to PostgreSQL and back", inFile, inDatabase],
    ["from PostgreSQL to SQLite and back", inDatabase, inFile],
  ])(
    "%s it is the same file, whatever each of them seals with, and goes on [HITL-02, RIG-04]",
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
        const loops = await from.loops(session);
        for (const brought of [there, back]) {
          expect(await linesOf(brought, session)).toEqual(await linesOf(from, session));
          expect(await brought.session(session)).toEqual(await from.session(session));
          expect(await brought.loops(session)).toEqual(loops);
          expect(await brought.inbox(session)).toEqual(await from.inbox(session));
          for (const { loopId, branch } of loops) {
            expect(await texts(brought, session, branch)).toEqual(await texts(from, session, branch));
            expect(await brought.events(loopId, 0)).toEqual(await from.events(loopId, 0));
          }
        }
      }
      const next = opening({ step: step({ run: "r2", number: 0 }), prompts: [] });
      const { loopId, from: begin } = await from.openLoop(next);
      expect(await there.openLoop(next)).toMatchObject({ loopId, from: begin });
      expect(await back.openLoop(next)).toMatchObject({ loopId, from: begin });
    },
  );
});
