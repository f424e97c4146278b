import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SuiteStore } from "../../src/store/transcript/suites.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { listLines } from "./archive-contract.ts";
import {
  answered,
  cell,
  cells,
  failure,
  finished,
  readStates,
  result,
  SCORES,
  startRun,
} from "./sample-suites.ts";
import { readEventTexts, readTexts } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** Claims of cells, and cells that are written with their session. */
export function testCellClaimContract(make: () => Promise<TranscriptFixture>): void {
  describe("cells of suites", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    let suites: SuiteStore;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
      suites = transcript.suites;
    });
    afterEach(() => bench.dispose());

    const claim = (numbers: readonly number[], owner: string, atMs: number) =>
      suites.claimCells(
        numbers.map((number) => cell(number)),
        { owner, atMs, untilMs: atMs + 100 },
      );

    test("are claimed by one owner, until the claim expires, is released, or the cell is finished", async () => {
      const mine = { number: 0, type: "claimed", attempt: 1 };
      expect(await claim([0, 1], "p1", 1000)).toEqual([mine, { ...mine, number: 1 }]);
      expect(await claim([0], "p1", 1000)).toEqual([mine]);
      expect(await claim([0, 2], "p2", 1050)).toEqual([
        { number: 0, type: "busy", untilMs: 1100 },
        { ...mine, number: 2 },
      ]);
      await suites.renewClaims("p1", 2000);
      expect(await claim([0], "p2", 1500)).toEqual([{ number: 0, type: "busy", untilMs: 2000 }]);
      expect(await claim([0], "p2", 2000)).toEqual([mine]);
      await suites.releaseClaims("p1");
      expect(await claim([1], "p3", 1050)).toEqual([{ ...mine, number: 1 }]);
      await suites.finishCell(finished(0));
      expect(await claim([0], "p2", 2000)).toEqual([{ number: 0, type: "finished", result: result() }]);
      // The claim is gone with the result: there is nothing left to release.
      await suites.releaseClaims("p2");
    });

    test("that have failed are claimed as their next attempt", async () => {
      await claim([0], "p1", 1000);
      await suites.finishCell(finished(0, { result: failure(), scores: [] }));
      expect(await claim([0], "p2", 1001)).toEqual([{ number: 0, type: "claimed", attempt: 2 }]);
      // Neither the first attempt nor its repetition takes the claim away.
      await suites.finishCell(finished(0, { result: failure(), scores: [] }));
      expect(await claim([0], "p1", 1002)).toMatchObject([{ type: "busy" }]);
      await suites.finishCell(finished(0, { result: failure({ attempt: 2 }), scores: [] }));
      expect(await claim([0], "p1", 1003)).toEqual([{ number: 0, type: "claimed", attempt: 3 }]);
    });

    test("are claimed once by concurrent owners, and finished once", async () => {
      const planned = cells(250);
      await startRun(suites, planned);
      const other = await bench.reopen();
      const numbers = planned.map(({ number }) => number);
      const claimed = await Promise.all(
        [suites, other.suites, suites, other.suites].map(async (store, index) => {
          const owner = `p${index}`;
          const order = index % 2 === 0 ? planned : [...planned].reverse();
          const claims = await store.claimCells(order, { owner, atMs: 1000, untilMs: 1100 });
          const own = claims.filter(({ type }) => type === "claimed").map(({ number }) => number);
          // Each also finishes a cell that it has not claimed.
          for (const number of [...own.slice(0, 9), 0]) await store.finishCell(finished(number));
          return own;
        }),
      );
      await other.close();
      expect(claimed.flat().sort((a, b) => a - b)).toEqual(numbers);
      const counts = await suites.countCells("run-1");
      expect(counts.paidUsd).toBe(counts.finished * 0.75);
      expect(counts).toMatchObject({ failed: 0, costUsd: counts.paidUsd });
    });

    test("get missing scores from concurrent writers, and are finished with the last one [S4]", async () => {
      await startRun(suites, cells(10));
      const other = await bench.reopen();
      await Promise.all(
        cells(10).map(async ({ number, cell: id }) => {
          await suites.finishCell(finished(number, { scores: [] }));
          await Promise.all([
            suites.addScores("run-1", number, id, [SCORES[0]!]),
            other.suites.addScores("run-1", number, id, [SCORES[1]!]),
          ]);
        }),
      );
      await other.close();
      expect(new Set(await readStates(suites))).toEqual(new Set(["finished"]));
      expect(await suites.countCells("run-1")).toMatchObject({ costUsd: 7.5, paidUsd: 7.5 });
    });

    test("of one answer are written with their session in one request, which can be repeated", async () => {
      await startRun(suites, cells(1));
      const session = "suite.cell-0";
      let first: unknown;
      for (let repeated = 0; repeated < 2; repeated++) {
        await suites.recordAnsweredCell(answered(0));
        expect(await readTexts(transcript, session, "main")).toEqual(["What is 1 + 1?", "It is 2"]);
        const [loop, ...more] = await transcript.readLoops(session);
        expect(more).toEqual([]);
        expect(loop).toMatchObject({ status: "completed", costUsd: 0.5, turns: 1 });
        expect(await readEventTexts(transcript, loop!.loopId)).toEqual(["event 0"]);
        const [row] = await suites.readCells("run-1", { after: -1, limit: 1 });
        const expected = result({ session, loopId: loop!.loopId, branch: "main" });
        expect(row).toMatchObject({ state: "finished", result: expected });
        const all = [row, await transcript.readSession(session), await listLines(transcript, session)];
        first ??= all;
        expect(all).toEqual(first);
        expect(await suites.countCells("run-1")).toMatchObject({ finished: 1, paidUsd: 0.75 });
      }
    });

    test("of one answer leave nothing that their dead process would have to release", async () => {
      await startRun(suites, cells(2));
      await suites.recordAnsweredCell(answered(0));
      await suites.recordAnsweredCell(answered(1));
      expect(await transcript.findDeadProcessWork("p1")).toEqual({ activities: [], runs: [] });
    });

    test("of one answer write no session if another result was first", async () => {
      await startRun(suites, cells(1));
      await suites.finishCell(finished(0));
      await suites.recordAnsweredCell(answered(0, { result: result({ costUsd: 9 }) }));
      expect(await transcript.readSession("suite.cell-0")).toBeUndefined();
      expect((await suites.readCells("run-1", { after: -1, limit: 1 }))[0]?.result).toEqual(result());
    });

    test("lose their session by its deletion, and keep their result", async () => {
      await startRun(suites, cells(1));
      await suites.recordAnsweredCell(answered(0));
      const { archive } = transcript;
      const session = "suite.cell-0";
      const types = new Set((await listLines(transcript, session)).map(({ type }) => type));
      expect([...types]).toEqual(expect.arrayContaining(["session", "branch", "entry", "loop", "step"]));
      expect(await archive.beginDelete(session)).toBe(true);
      while (!(await archive.deletePage(session, 900)).done);
      expect(await transcript.readSession(session)).toBeUndefined();
      expect((await archive.list({}, { limit: 9 })).map(({ id }) => id)).toEqual([]);
      const [row] = await suites.readCells("run-1", { after: -1, limit: 1 });
      expect(row).toMatchObject({ state: "finished", result: { session } });
      // A late repetition does not bring it back.
      await suites.recordAnsweredCell(answered(0));
      expect(await transcript.readSession(session)).toBeUndefined();
    });
  });
}
