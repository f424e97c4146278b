import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { WriteTarget } from "../../src/store/transcript/store-write.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import {
  EMPTY_OUTBOX,
  entry,
  event,
  opening,
  readEventTexts,
  readTexts,
  step,
  write,
} from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** Positions, forks, resets, prefixes: I1 and I5. */
export function testBranchContract(make: () => Promise<TranscriptFixture>): void {
  describe("branches and events", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    let target: WriteTarget;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
      const { loopId, branch } = await transcript.openLoop(opening());
      target = { loopId, branch, base: 1 };
    });
    afterEach(() => bench.dispose());

    /** Stores one call of a batch: run, command, call, first position of the batch, text at `base + call`. */
    const put = (run: string, number: number, call: number, base: number, text: string, branch = "main") =>
      transcript.store(
        write(
          { ...target, branch, base },
          { step: step({ run, number, call }), entries: [entry(base + call, text)] },
        ),
      );
    const head = async () => (await transcript.readSession("s"))?.headBranch;

    test("I5: an entry after a gap is not visible until the gap is closed", async () => {
      await put("r1", 1, 1, 1, "second");
      expect(await transcript.countEntries("s", "main")).toBe(1);
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello"]);
      await put("r1", 1, 0, 1, "first");
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "first", "second"]);
      expect(await transcript.readEntries("s", "main", 1, 2)).toHaveLength(1);
      expect(await transcript.readEntries("s", "main", 3, 9)).toEqual([]);
      expect(await transcript.readEntries("s", "nowhere", 0, 9)).toEqual([]);
      expect(await transcript.countEntries("s", "nowhere")).toBe(0);
    });

    test("I1: a position that another run has written is not overwritten; the run continues in a fork at its base", async () => {
      await put("r1", 1, 0, 1, "old one");
      await put("r1", 2, 0, 2, "old two");
      const { branch } = await put("r2", 2, 0, 2, "new two");
      expect(branch).not.toBe("main");
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "old one", "old two"]);
      expect(await readTexts(transcript, "s", branch)).toEqual(["hello", "old one", "new two"]);
      expect(await transcript.readBranches("s")).toContainEqual({
        id: branch,
        parent: { branch: "main", position: 2 },
      });
      expect(await head()).toBe(branch);
      expect((await transcript.readLoops("s"))[0]).toMatchObject({ branch });
    });

    test("siblings of one batch fork together, even if only one of them has the conflict", async () => {
      await put("r1", 1, 0, 1, "old a");
      const b = await put("r2", 1, 1, 1, "new b");
      const c = await put("r2", 1, 2, 1, "new c");
      const a = await put("r2", 1, 0, 1, "new a");
      expect(new Set([a.branch, b.branch, c.branch]).size).toBe(1);
      expect(await readTexts(transcript, "s", a.branch)).toEqual(["hello", "new a", "new b", "new c"]);
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "old a"]);
    });

    test("a write of a run that expects missing entries is rejected, and leaves nothing", async () => {
      await put("r2", 1, 1, 1, "new b");
      await expect(put("r1", 4, 0, 5, "old, far ahead")).rejects.toMatchObject({ fault: "behind" });
      expect((await put("r2", 1, 0, 1, "new a")).branch).toBe("main");
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "new a", "new b"]);
    });

    test("a stored result that is claimed again has the branch on which its run has continued meanwhile", async () => {
      expect((await put("r2", 1, 0, 1, "new a")).branch).toBe("main");
      expect((await put("r1", 3, 0, 2, "old b")).branch).toBe("main");
      const b = await put("r2", 1, 1, 1, "new b");
      expect(b.branch).not.toBe("main");
      const again = step({ run: "r2", number: 1, call: 0, generation: 2 });
      const claimed = await transcript.claim(again, { ...target, base: 1 }, EMPTY_OUTBOX, 1);
      expect(claimed).toMatchObject({ type: "stored", branch: b.branch });
      expect(await readTexts(transcript, "s", b.branch)).toEqual(["hello", "new a", "new b"]);
    });

    test("a claim returns the branch on which the run continues, and a write that names the old branch goes there too", async () => {
      await put("r1", 1, 0, 1, "old one");
      const claimed = await transcript.claim(step({ run: "r2" }), target, EMPTY_OUTBOX, 1);
      expect(claimed.branch).not.toBe("main");
      const one = await put("r2", 1, 0, 1, "new one");
      // Free on the old branch, but this run has left it.
      const two = await put("r2", 2, 0, 2, "new two");
      expect([one.branch, two.branch]).toEqual([claimed.branch, claimed.branch]);
      expect(await readTexts(transcript, "s", claimed.branch)).toEqual(["hello", "new one", "new two"]);
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "old one"]);
    });

    test("an outbox forks like the entries of a result", async () => {
      await put("r1", 1, 0, 1, "old one");
      const outbox = { entries: [entry(1, "new steer")], events: [] };
      const claimed = await transcript.claim(step({ run: "r2" }), target, outbox, 1);
      const again = await transcript.claim(step({ run: "r2", generation: 2 }), target, outbox, 1);
      expect(again.branch).toBe(claimed.branch);
      expect(await readTexts(transcript, "s", claimed.branch)).toEqual(["hello", "new steer"]);
    });

    test("after a fork in the middle of a batch, the entries from before the reset are visible", async () => {
      await put("r1", 1, 0, 1, "a");
      await put("r1", 1, 1, 1, "old b");
      // r2 was reset after a and before b: it repeats b, and then continues.
      const b = await put("r2", 1, 1, 1, "new b");
      const next = await transcript.claim(
        step({ run: "r2", number: 2 }),
        { ...target, branch: b.branch, base: 3 },
        EMPTY_OUTBOX,
        1,
      );
      expect(next.branch).toBe(b.branch);
      expect(await readTexts(transcript, "s", b.branch)).toEqual(["hello", "a", "new b"]);
    });

    test("a run that continues another one appends to its entries", async () => {
      await put("r1", 1, 0, 1, "one");
      expect((await put("r2", 2, 0, 2, "two")).branch).toBe("main");
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one", "two"]);
    });

    test("a run that a reset has replaced does not move the head", async () => {
      await put("r1", 1, 0, 1, "old one");
      const { branch } = await put("r2", 1, 0, 1, "new one");
      await put("r1", 2, 0, 2, "old two");
      expect(await head()).toBe(branch);
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "old one", "old two"]);
      const opened = await transcript.openLoop(
        opening({ step: step({ run: "r2", number: 9 }), prompts: [message2()] }),
      );
      expect(opened).toMatchObject({ branch, from: 2 });
    });
    const message2 = () => ({ id: "m2", text: "next", atMs: 1 });

    test("the tokens before a position include those of the ancestor branches", async () => {
      const sums = [0, 6];
      for (const [index, text] of ["one", "two hundred", "three"].entries()) {
        await put("r1", index + 1, 0, index + 1, text);
        sums.push(sums[sums.length - 1]! + Math.ceil(text.length / 4) + 4);
      }
      const { branch } = await put("r2", 3, 0, 3, "a fork of another size");
      const at = async (name: string, position: number) => {
        const key = step({ run: `q${name}${position}`, number: 0 });
        const opened = await transcript.openLoop(
          opening({ step: key, at: { branch: name, position }, prompts: [] }),
        );
        return opened.tokensBefore;
      };
      expect([await at("main", 0), await at("main", 1), await at("main", 3), await at("main", 4)]).toEqual([
        sums[0],
        sums[1],
        sums[3],
        sums[4],
      ]);
      expect([await at(branch, 2), await at(branch, 3), await at(branch, 4)]).toEqual([
        sums[2],
        sums[3],
        sums[3]! + 6 + 4,
      ]);
    });

    test("a write to a branch or loop that does not exist is rejected", async () => {
      await expect(put("r1", 1, 0, 1, "x", "nowhere")).rejects.toThrow(/nowhere/);
      await expect(
        transcript.store(write({ ...target, loopId: "x" }, { outbox: { entries: [], events: [event(0)] } })),
      ).rejects.toThrow(/loop x/);
    });

    const tell = (run: string, number: number, ...events: ReturnType<typeof event>[]) =>
      transcript.store(write(target, { step: step({ run, number }), outbox: { entries: [], events } }));
    const seen = (from = 0) => readEventTexts(transcript, target.loopId, from);

    test("I5: events are visible up to the first gap, and written once [EVT-18]", async () => {
      await tell("r1", 1, event(0), event(2));
      expect(await seen()).toEqual(["event 0"]);
      expect(await seen(2)).toEqual([]);
      await tell("r1", 2, event(0, "again"), event(1));
      expect(await seen()).toEqual(["event 0", "event 1", "event 2"]);
      expect(await seen(2)).toEqual(["event 2"]);
      expect((await transcript.readEvents(target.loopId, 0))[0]).toEqual({
        loopId: target.loopId,
        sequence: 0,
        atMs: 1000,
        body: event(0).body,
      });
      expect(await transcript.readEvents("no such loop", 0)).toEqual([]);
    });

    test("a reset hides the later events of earlier runs, whichever run writes afterwards", async () => {
      await tell("r1", 1, event(0), event(1), event(2), event(3));
      await tell("r2", 2, event(2, "new 2"));
      expect(await seen()).toEqual(["event 0", "event 1", "new 2"]);
      await tell("r1", 3, event(4));
      expect(await seen()).toEqual(["event 0", "event 1", "new 2"]);
      await tell("r2", 4, event(3, "new 3"));
      await tell("r3", 5, event(1, "newest 1"));
      expect(await seen()).toEqual(["event 0", "newest 1"]);
    });

    test("a run that continues another one appends to its events", async () => {
      await tell("r1", 1, event(0), event(1));
      await tell("r2", 2, event(2), event(3));
      expect(await seen(1)).toEqual(["event 1", "event 2", "event 3"]);
    });
  });
}
