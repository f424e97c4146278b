import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StoredAnswer, SuiteStore } from "../../src/store/transcript/suites.ts";
import { answer } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

const DAY_MS = 86_400_000;

/** The answers of models that cells share. */
export function testAnswerContract(make: () => Promise<TranscriptFixture>): void {
  describe("stored answers", () => {
    let bench: TranscriptFixture;
    let suites: SuiteStore;
    beforeEach(async () => {
      bench = await make();
      suites = bench.transcript.suites;
    });
    afterEach(() => bench.dispose());

    const stored = (key: string, atMs = 100, text = `answer to ${key}`): StoredAnswer => ({
      key,
      message: answer(text),
      session: `session of ${key}`,
      atMs,
    });
    const BYTES = Buffer.byteLength(JSON.stringify(answer("answer to a")));

    test("are read by key, and the first one for a key stays [S3]", async () => {
      await suites.putAnswer(stored("a"));
      await suites.putAnswer(stored("a", 200, "another answer"));
      await suites.putAnswer(stored("b", 150, "\0 and ü"));
      const found = await suites.readAnswers(["a", "b", "a", "none"], 300);
      expect([...found].sort((x, y) => (x.key < y.key ? -1 : 1))).toEqual([
        stored("a"),
        stored("b", 150, "\0 and ü"),
      ]);
      expect(await suites.readAnswers([], 300)).toEqual([]);
      expect(await suites.readAnswers(["none"], 300)).toEqual([]);
    });

    test("are read by many keys at once", async () => {
      const keys = Array.from({ length: 250 }, (_, index) => `k${index}`);
      await Promise.all(keys.map((key) => suites.putAnswer(stored(key))));
      expect(await suites.readAnswers(keys, 100)).toHaveLength(250);
    });

    test("are counted with their bytes and the time of the oldest", async () => {
      expect(await suites.countAnswers()).toEqual({ answers: 0, bytes: 0 });
      await suites.putAnswer(stored("a", 300));
      await suites.putAnswer(stored("b", 200));
      expect(await suites.countAnswers()).toEqual({ answers: 2, bytes: 2 * BYTES, oldestAtMs: 200 });
    });

    test("are deleted if they were not used since a time, where a use counts once a day", async () => {
      for (const key of ["a", "b", "c"]) await suites.putAnswer(stored(key, 100));
      await suites.readAnswers(["a"], 100 + DAY_MS - 1);
      await suites.readAnswers(["b"], 100 + DAY_MS);
      await suites.readAnswers(["b"], 50);
      const prune = { unusedSinceMs: 100 + DAY_MS, limit: 1 };
      expect(await suites.pruneAnswers(prune)).toEqual({ deleted: 1, bytes: BYTES, done: false });
      expect(await suites.pruneAnswers(prune)).toMatchObject({ deleted: 1, done: false });
      expect(await suites.pruneAnswers(prune)).toEqual({ deleted: 0, bytes: 0, done: true });
      expect((await suites.readAnswers(["a", "b", "c"], 200)).map(({ key }) => key)).toEqual(["b"]);
    });

    test("above a size the least recently used ones are deleted", async () => {
      for (const [index, key] of ["a", "b", "c", "d"].entries())
        await suites.putAnswer(stored(key, 100 + index));
      await suites.readAnswers(["a"], 100 + 2 * DAY_MS);
      expect(await suites.pruneAnswers({ maxBytes: 4 * BYTES, limit: 9 })).toMatchObject({ deleted: 0 });
      const prune = { maxBytes: 2 * BYTES + 1, limit: 9 };
      expect(await suites.pruneAnswers(prune)).toEqual({ deleted: 2, bytes: 2 * BYTES, done: true });
      expect(await suites.pruneAnswers(prune)).toEqual({ deleted: 0, bytes: 0, done: true });
      const left = await suites.readAnswers(["a", "b", "c", "d"], 200);
      expect(left.map(({ key }) => key).sort()).toEqual(["a", "d"]);
      expect(await suites.pruneAnswers({ limit: 9 })).toMatchObject({ deleted: 0, done: true });
    });
  });
}
