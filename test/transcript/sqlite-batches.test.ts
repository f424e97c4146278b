import { describe, expect, test } from "vitest";
import type { BodyLine } from "../../src/schema/export-line.ts";
import { hashText } from "../../src/store/transcript/sql/hash-text.ts";
import type { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { SqliteFixture } from "./sqlite-fixture.ts";

// Operations that are requested during a commit are written together in the next one.

const bench = SqliteFixture.forEachTest();

/** The most operations in one commit. */
const BATCH = 256;

/** Stores a text, and then fails: no session has the mark of this import. */
function failAfterText(transcript: SqliteTranscript, text: string): Promise<unknown> {
  const lines: readonly BodyLine[] = [
    { type: "content", hash: hashText(text), text },
    { type: "branch", session: "unknown", id: "main", length: 0 },
  ];
  return transcript.archive.importLines("token", lines, 1).catch((error: unknown) => error);
}

/** Requests an operation with a value that no thread can receive. */
function sendFunction(transcript: SqliteTranscript): Promise<unknown> {
  return transcript.putText((() => "text") as unknown as string, 1).catch((error: unknown) => error);
}

describe("one commit of several operations", () => {
  test.each([0, 1, 2])("is written without the one that fails, number %i", async (failing) => {
    const transcript = await bench.open();
    const first = transcript.putText("before", 1);
    const operations = [0, 1, 2].map((nth) =>
      nth === failing ? failAfterText(transcript, `text ${nth}`) : transcript.putText(`text ${nth}`, 1),
    );
    const results = await Promise.all(operations);
    expect(await first).toBe(hashText("before"));
    expect(results[failing]).toMatchObject({ message: expect.stringContaining("Another import") });
    const texts = await Promise.all([0, 1, 2].map((nth) => transcript.readText(hashText(`text ${nth}`))));
    expect(texts).toEqual([0, 1, 2].map((nth) => (nth === failing ? undefined : `text ${nth}`)));
  });

  test("is written without those that cannot be sent, even if nothing else is in it", async () => {
    const transcript = await bench.open();
    const first = transcript.putText("before", 1);
    const unsent = Array.from({ length: BATCH }, () => sendFunction(transcript));
    const last = transcript.putText("after", 1);
    await first;
    expect(await last).toBe(hashText("after"));
    for (const error of await Promise.all(unsent)) expect(error).toMatchObject({ name: "DataCloneError" });
  });
});
