import { describe, expect, test } from "vitest";
import { Conversations } from "../../src/activities/step/conversations.ts";
import type { ViewRanges } from "../../src/core/view/view-ranges.ts";
import type { Continuation } from "../../src/store/transcript/continuation.ts";
import { entry, message, opening, step, write } from "../transcript/sample-writes.ts";
import { SqliteFixture } from "../transcript/sqlite-fixture.ts";

const bench = SqliteFixture.forEachTest();

describe("a conversation that a worker caches", () => {
  test.each([
    ["as long", ["new one", "new two"]],
    ["shorter", ["new one"]],
    ["longer", ["new one", "new two", "new three"]],
  ])("is not served to a new session with the name of a deleted one: %s", async (_, anew) => {
    const transcript = await bench.open();
    const conversations = new Conversations(transcript);
    const tell = async (run: string, words: readonly string[]) => {
      const { loopId } = await transcript.openLoop(
        opening({ step: step({ run, number: 0, kind: "open-loop" }), prompts: [message(run, `of ${run}`)] }),
      );
      const entries = words.map((text, index) => entry(index + 1, text));
      await transcript.store(write({ loopId, branch: "main", base: 1 }, { step: step({ run }), entries }));
    };
    const view = (to: number): ViewRanges => ({ branch: "main", ranges: [{ from: 0, to }] });
    const shown = async (to: number) => JSON.stringify(await conversations.readMessages("s", view(to)));

    await tell("r1", ["old one", "old two"]);
    expect(await shown(3)).toContain("old two");
    await transcript.archive.beginDelete("s");
    while (!(await transcript.archive.deletePage("s", 1)).done);
    await tell("r2", anew);

    expect(JSON.stringify(await conversations.readMessage("s", "main", 1))).toContain("new one");
    const now = await shown(anew.length + 1);
    for (const text of ["of r2", ...anew]) expect(now).toContain(text);
    expect(now).not.toContain("old");
  });

  test("is read only as far as it has grown, even for two simultaneous reads", async () => {
    const transcript = await bench.open();
    const read: Promise<Continuation>[] = [];
    const counted = new Proxy(transcript, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...values: unknown[]) => {
          const answer = value.apply(target, values);
          if (name === "readContinuation") read.push(answer);
          return answer;
        };
      },
    });
    const conversations = new Conversations(counted);
    const { loopId } = await transcript.openLoop(opening());
    const place = { loopId, branch: "main", base: 1 };
    await transcript.store(write(place, { entries: [entry(1, "one")] }));
    await conversations.readEntriesBefore("s", "main", 2);
    await transcript.store(
      write({ ...place, base: 2 }, { step: step({ number: 2 }), entries: [entry(2, "two")] }),
    );
    const both = await Promise.all([
      conversations.readEntriesBefore("s", "main", 3),
      conversations.readEntriesBefore("s", "main", 3),
    ]);
    expect(both.map((entries) => entries.length)).toEqual([3, 3]);
    await conversations.readEntriesBefore("s", "main", 3);
    const positions = (await Promise.all(read)).map(({ entries }) => entries.map((one) => one.position));
    expect(positions).toEqual([[0, 1], [2], [2], []]);
  });
});
