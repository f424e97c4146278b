import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FencedError } from "../../src/store/transcript/store-error.ts";
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

/** Claims, results, generations: I2, I3, I4. */
export function testStepContract(make: () => Promise<TranscriptFixture>): void {
  describe("steps", () => {
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

    test("a step is claimed and stored, and later claims return its result", async () => {
      expect(await transcript.claim(step(), target, EMPTY_OUTBOX, 10)).toEqual({
        type: "claimed",
        branch: "main",
        executions: 1,
      });
      const stored = await transcript.store(
        write(target, { entries: [entry(1, "one")], result: { a: [1, null] } }),
      );
      expect(stored).toEqual({ branch: "main", result: { a: [1, null] } });
      const again = { type: "stored", branch: "main", result: { a: [1, null] } };
      expect(await transcript.claim(step(), target, EMPTY_OUTBOX, 11)).toEqual(again);
      expect(
        await transcript.claim(step({ generation: 2, process: "p2" }), target, EMPTY_OUTBOX, 11),
      ).toEqual(again);
    });

    test("I3: a stored result is never replaced, and the second write leaves nothing", async () => {
      await transcript.store(write(target, { entries: [entry(1, "one")], result: 1 }));
      for (const of of [{}, { generation: 2 }, { process: "p2" }, { generation: 0, process: "p0" }]) {
        const second = write(target, { step: step(of), entries: [entry(2, "two")], result: 2 });
        expect(await transcript.store(second)).toEqual({ branch: "main", result: 1 });
      }
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one"]);
    });

    test("any JSON result is returned unchanged, and undefined as null", async () => {
      for (const [index, result] of [null, undefined, false, 0, "", [], { deep: [{}] }].entries()) {
        const key = step({ number: 10 + index });
        await transcript.store(write(target, { step: key, result }));
        const claimed = await transcript.claim(key, target, EMPTY_OUTBOX, 1);
        expect(claimed).toMatchObject({ type: "stored", result: result ?? null });
      }
    });

    test("I4: an older generation can neither claim nor store, and writes nothing", async () => {
      await transcript.claim(step({ generation: 3 }), target, EMPTY_OUTBOX, 10);
      const late = { entries: [entry(1, "late")], events: [event(0, "late")] };
      await expect(transcript.claim(step({ generation: 2 }), target, late, 11)).rejects.toThrow(FencedError);
      const old = write(target, { step: step({ generation: 2 }), outbox: late, entries: [entry(2, "late")] });
      await expect(transcript.store(old)).rejects.toThrow(FencedError);
      await expect(transcript.storeInbox(old, [{ id: "i", text: "", atMs: 1 }])).rejects.toThrow(FencedError);
      expect(await transcript.countEntries("s", "main")).toBe(1);
      expect(await transcript.readEvents(target.loopId, 0)).toEqual([]);
      expect(await transcript.readInbox("s")).toEqual([]);
    });

    test("I4: a process that has lost its claim can neither store, set a note or process group, nor release", async () => {
      await transcript.claim(step(), target, EMPTY_OUTBOX, 10);
      await transcript.claim(step({ process: "p2" }), target, EMPTY_OUTBOX, 11);
      const late = write(target, { entries: [entry(1, "late")] });
      await expect(transcript.store(late)).rejects.toThrow(FencedError);
      await expect(transcript.setProcessGroup(step(), { pgid: 1, startTime: "1" })).rejects.toThrow(
        FencedError,
      );
      await expect(transcript.setNote(step(), "x")).rejects.toThrow(FencedError);
      await expect(transcript.release(step())).rejects.toThrow(FencedError);
      expect(await transcript.countEntries("s", "main")).toBe(1);
      const holder = write(target, { step: step({ process: "p2" }), entries: [entry(1, "one")] });
      expect((await transcript.store(holder)).branch).toBe("main");
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one"]);
    });

    test("a claim that takes over returns the lost executions, for an equal and for a newer generation", async () => {
      await transcript.claim(step(), target, EMPTY_OUTBOX, 10);
      await transcript.setProcessGroup(step(), { pgid: 44, startTime: "12" });
      expect(await transcript.claim(step({ process: "p2" }), target, EMPTY_OUTBOX, 20)).toEqual({
        type: "claimed",
        branch: "main",
        executions: 2,
        lostExecution: {
          generation: 1,
          process: "p1",
          startedAtMs: 10,
          group: { pgid: 44, startTime: "12" },
        },
      });
      expect(
        await transcript.claim(step({ generation: 2, process: "p3" }), target, EMPTY_OUTBOX, 30),
      ).toEqual({
        type: "claimed",
        branch: "main",
        executions: 3,
        lostExecution: { generation: 1, process: "p2", startedAtMs: 20 },
        earlierLostExecutions: [
          { generation: 1, process: "p1", startedAtMs: 10, group: { pgid: 44, startTime: "12" } },
        ],
      });
    });

    test("a released claim does not hide the lost one before it, which the next claim returns", async () => {
      await transcript.claim(step(), target, EMPTY_OUTBOX, 10);
      await transcript.claim(step({ generation: 2, process: "p2" }), target, EMPTY_OUTBOX, 20);
      await transcript.release(step({ generation: 2, process: "p2" }));
      expect(await transcript.findClaimHolder(step())).toBeUndefined();
      expect(
        await transcript.claim(step({ generation: 3, process: "p3" }), target, EMPTY_OUTBOX, 30),
      ).toEqual({
        type: "claimed",
        branch: "main",
        executions: 3,
        lostExecution: { generation: 1, process: "p1", startedAtMs: 10 },
      });
    });

    test("the holder of a claim is returned until the step is released or stored", async () => {
      expect(await transcript.findClaimHolder(step())).toBeUndefined();
      await transcript.claim(step(), target, EMPTY_OUTBOX, 10);
      expect(await transcript.findClaimHolder(step())).toEqual({
        generation: 1,
        process: "p1",
        startedAtMs: 10,
      });
      await transcript.release(step());
      expect(await transcript.findClaimHolder(step())).toBeUndefined();
      await transcript.claim(step({ process: "p2" }), target, EMPTY_OUTBOX, 20);
      await transcript.store(write(target, { step: step({ process: "p2" }) }));
      expect(await transcript.findClaimHolder(step())).toBeUndefined();
    });

    test("a released claim is not lost, but counts as an execution", async () => {
      await transcript.claim(step(), target, EMPTY_OUTBOX, 10);
      await transcript.release(step());
      expect(await transcript.claim(step({ process: "p2" }), target, EMPTY_OUTBOX, 20)).toEqual({
        type: "claimed",
        branch: "main",
        executions: 2,
      });
      expect(await transcript.claim(step({ process: "p3" }), target, EMPTY_OUTBOX, 30)).toMatchObject({
        executions: 3,
        lostExecution: { process: "p2" },
      });
    });

    test("a short step needs no claim; of two writes, the first one's result counts", async () => {
      const [first, second] = await Promise.all([
        transcript.store(write(target, { result: 1 })),
        transcript.store(write(target, { step: step({ process: "p2" }), result: 2 })),
      ]);
      expect([first.result, second.result]).toEqual([1, 1]);
      expect(await transcript.readSteps("s")).toMatchObject([{ kind: "open-loop" }, { executions: 1 }]);
    });

    test("without a claim of its own, a step may store over an older or a released claim only", async () => {
      await transcript.claim(step(), target, EMPTY_OUTBOX, 10);
      const other = (of: object) => transcript.store(write(target, { step: step({ process: "p2", ...of }) }));
      await expect(other({})).rejects.toThrow(FencedError);
      await transcript.release(step());
      expect((await other({})).result).toEqual({ done: true });
      const key = { number: 2 };
      await transcript.claim(step(key), target, EMPTY_OUTBOX, 10);
      expect((await other({ ...key, generation: 2 })).result).toEqual({ done: true });
      expect((await transcript.readSteps("s"))[2]).toMatchObject({
        generation: 2,
        process: "p2",
        executions: 2,
      });
    });

    test("an unclaimed step cannot be released, nor get a note or process group", async () => {
      await expect(transcript.release(step())).rejects.toThrow(FencedError);
      await expect(transcript.setNote(step(), "x")).rejects.toThrow(FencedError);
      await expect(transcript.setProcessGroup(step(), { pgid: 1, startTime: "1" })).rejects.toThrow(
        FencedError,
      );
    });

    test("a note survives lost executions", async () => {
      expect(await transcript.readNote(step())).toBeUndefined();
      await transcript.claim(step(), target, EMPTY_OUTBOX, 10);
      expect(await transcript.readNote(step())).toBeUndefined();
      await transcript.setNote(step(), "before\0after");
      await transcript.claim(step({ generation: 2, process: "p2" }), target, EMPTY_OUTBOX, 20);
      expect(await transcript.readNote(step())).toBe("before\0after");
    });

    test("an outbox is written once with the claim, and a newer generation can add to it", async () => {
      const outbox = { entries: [entry(1, "steer")], events: [event(0)] };
      await transcript.claim(step(), target, outbox, 10);
      await transcript.claim(step({ process: "p2" }), target, outbox, 10);
      await transcript.store(write(target, { step: step({ process: "p2" }), entries: [entry(2, "one")] }));
      const more = { entries: outbox.entries, events: [event(0), event(1)] };
      expect(await transcript.claim(step({ generation: 2 }), target, more, 10)).toMatchObject({
        type: "stored",
      });
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "steer", "one"]);
      expect(await readEventTexts(transcript, target.loopId)).toEqual(["event 0", "event 1"]);
      const most = { entries: [], events: [event(2)] };
      await transcript.store(write(target, { step: step({ generation: 3 }), outbox: most }));
      expect(await readEventTexts(transcript, target.loopId)).toEqual(["event 0", "event 1", "event 2"]);
    });

    test("I2: a write that fails halfway leaves nothing, and concurrent writes succeed", async () => {
      const broken = write(
        { loopId: "no such loop", branch: "main", base: 1 },
        {
          step: step({ number: 5 }),
          entries: [entry(1, "half")],
          outbox: { entries: [], events: [event(0)] },
        },
      );
      const [before, failed, after] = await Promise.allSettled([
        transcript.store(write(target, { step: step({ number: 6 }) })),
        transcript.store(broken),
        transcript.store(write(target, { step: step({ number: 7 }) })),
      ]);
      expect([before.status, failed.status, after.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await transcript.countEntries("s", "main")).toBe(1);
      expect((await transcript.readSteps("s")).map(({ number }) => number)).toEqual([0, 6, 7]);
    });

    test("two hundred concurrent claims all succeed, each once", async () => {
      const keys = Array.from({ length: 200 }, (_, number) => step({ number: 100 + number }));
      const claims = await Promise.all(keys.map((key) => transcript.claim(key, target, EMPTY_OUTBOX, 1)));
      expect(new Set(claims.map((claim) => claim.type === "claimed" && claim.executions))).toEqual(
        new Set([1]),
      );
      expect(await transcript.readSteps("s")).toHaveLength(201);
    }, 60_000);
  });
}
