import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SuiteStore } from "../../src/store/transcript/suites.ts";
import {
  CONTROL,
  cell,
  cells,
  failure,
  finished,
  newRun,
  plan,
  readStates,
  result,
  SCORERS,
  SCORES,
  sampleCase,
  score,
  startRun,
} from "./sample-suites.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** Runs of suites, and the results and scores of their cells. */
export function testSuiteContract(make: () => Promise<TranscriptFixture>): void {
  describe("runs of suites", () => {
    let bench: TranscriptFixture;
    let suites: SuiteStore;
    beforeEach(async () => {
      bench = await make();
      suites = bench.transcript.suites;
    });
    afterEach(() => bench.dispose());

    const readCell = async (number: number, run = "run-1") =>
      (await suites.readCells(run, { after: number - 1, limit: 1 }))[0];

    test("a run is planned, starts, and is read again", async () => {
      const run = newRun({ plan: plan({ tags: ["nightly"] }) });
      for (let repeated = 0; repeated < 2; repeated++) {
        await suites.createRun(run);
        await suites.addCases("run-1", [sampleCase(0), sampleCase(1)]);
        await suites.addCells("run-1", cells(3));
      }
      const planned = { id: "run-1", plan: run.plan, control: CONTROL, scorers: SCORERS, createdAtMs: 10 };
      expect(await suites.readRun("run-1")).toEqual({
        ...planned,
        status: "planning",
        cases: 0,
        cells: 0,
        reused: 0,
      });
      const started = { ...planned, status: "running", cases: 2, cells: 3, reused: 0, startedAtMs: 20 };
      expect(await suites.startRun("run-1", 20)).toEqual(started);
      expect(await suites.startRun("run-1", 21)).toEqual(started);
      expect(await suites.readRun("nobody")).toBeUndefined();
      await expect(suites.addCells("nobody", cells(1))).rejects.toThrow("Suite run nobody does not exist");
    });

    test("a repeated page of cells is ignored after the start", async () => {
      await startRun(suites, cells(2));
      await suites.addCells("run-1", cells(5));
      await suites.addCases("run-1", [sampleCase(7)]);
      expect(await readStates(suites)).toEqual(["pending", "pending"]);
      expect(await suites.readCases("run-1", 0, 9)).toEqual([sampleCase(0), sampleCase(1)]);
    });

    test("pages of 500 rows are stored whole, and read in pages", async () => {
      const planned = cells(500).map((one) => ({
        ...one,
        configuration: one.number % 2,
        kind: "agent" as const,
      }));
      await startRun(suites, planned);
      expect((await suites.readCases("run-1", 490, 99)).map(({ number }) => number)).toEqual([
        490, 491, 492, 493, 494, 495, 496, 497, 498, 499,
      ]);
      const some = await suites.readCasesByNumbers("run-1", [499, 3, 3, 700]);
      expect(some.toSorted((a, b) => a.number - b.number)).toEqual([sampleCase(3), sampleCase(499)]);
      expect(await suites.readPending("run-1", 496, 99)).toEqual(planned.slice(497));
      const page = await suites.readCells("run-1", { after: 3, limit: 3, configuration: 1 });
      expect(page).toEqual(
        [5, 7, 9].map((number) => ({ ...planned[number]!, state: "pending", scores: {} })),
      );
      expect(await suites.readCells("run-1", { after: -1, limit: 9, caseNumber: 7 })).toMatchObject([
        { number: 7 },
      ]);
      expect(await suites.countCells("run-1")).toEqual({
        pending: 500,
        finished: 0,
        failed: 0,
        costUsd: 0,
        paidUsd: 0,
        failures: {},
      });
    });

    test("runs are listed newest first, in pages, by tag and by name", async () => {
      for (const [index, id] of ["a", "b", "c", "d"].entries()) {
        const tags = index % 2 === 0 ? ["even", "all"] : ["all"];
        await suites.createRun(
          newRun({
            id,
            atMs: 10 + Math.min(index, 2),
            plan: plan({ tags, name: id === "d" ? "other" : "suite" }),
          }),
        );
      }
      const list = async (page: Omit<Parameters<SuiteStore["listRuns"]>[0], "limit">, limit = 9) =>
        (await suites.listRuns({ limit, ...page })).map(({ id }) => id);
      const all = await list({});
      expect(all.slice(2)).toEqual(["b", "a"]);
      expect([...all].sort()).toEqual(["a", "b", "c", "d"]);
      expect(await list({}, 2)).toEqual(all.slice(0, 2));
      const second = (await suites.readRun(all[0]!))!;
      expect(await list({ after: second })).toEqual(all.slice(1));
      expect(await list({ tag: "even" })).toEqual(["c", "a"]);
      expect(await list({ tag: "all", name: "other" })).toEqual(["d"]);
      expect(await list({ tag: "none" })).toEqual([]);
    });

    test("a run is controlled, and stops for a reason; its end is the first one", async () => {
      await startRun(suites, cells(1));
      expect(await suites.controlRun("run-1", { concurrency: 3, maxCostUsd: 2.5 })).toMatchObject({
        control: { state: "running", concurrency: 3, maxCostUsd: 2.5 },
      });
      expect(await suites.controlRun("run-1", { state: "paused", maxCostUsd: null })).toMatchObject({
        control: { state: "paused", concurrency: 3, maxCostUsd: null },
      });
      expect(await suites.controlRun("nobody", { state: "paused" })).toBeUndefined();
      await suites.setStatus("run-1", {
        status: "stopped",
        reason: "The budget is spent",
        stopCode: "budget",
        atMs: 50,
      });
      await suites.setStatus("run-1", {
        status: "stopped",
        reason: "The budget is spent",
        stopCode: "budget",
        atMs: 60,
      });
      const stopped = { status: "stopped", reason: "The budget is spent", stopCode: "budget", endedAtMs: 50 };
      expect(await suites.readRun("run-1")).toMatchObject(stopped);
      await suites.setStatus("run-1", { status: "running", atMs: 70 });
      const again = await suites.readRun("run-1");
      expect(again).toMatchObject({ status: "running" });
      expect(again).not.toHaveProperty("reason");
      expect(again).not.toHaveProperty("stopCode");
      expect(again).not.toHaveProperty("endedAtMs");
    });

    test("a finished cell has its result and scores, and a repeated request changes nothing", async () => {
      await startRun(suites, cells(2));
      const own = result({ session: "s-0", loopId: "s-0.v.m.1", branch: "main", message: "fine" });
      await suites.finishCell(finished(0, { result: own }));
      const expected = {
        ...cell(0),
        state: "finished",
        result: own,
        scores: { "exact-1": SCORES[0]!.score, "judge-1": SCORES[1]!.score },
      };
      const counts = { pending: 1, finished: 1, failed: 0, costUsd: 0.75, paidUsd: 0.75, failures: {} };
      for (let repeated = 0; repeated < 2; repeated++) {
        expect(await readCell(0)).toEqual(expected);
        expect(await suites.countCells("run-1")).toEqual(counts);
        await suites.finishCell(finished(0, { result: own }));
      }
      expect(await suites.readPending("run-1", -1, 9)).toEqual([cell(1)]);
    });

    test("a finished result is never replaced, and scores of another answer are not stored [S2]", async () => {
      await startRun(suites, cells(1));
      await suites.finishCell(finished(0, { scores: SCORES.slice(0, 1) }));
      const late = { result: result({ attempt: 2, costUsd: 9, outcome: "limit-reached" }) };
      await suites.finishCell(finished(0, late));
      await suites.finishCell(finished(0, { result: failure({ attempt: 3 }) }));
      expect(await readCell(0)).toMatchObject({ state: "pending", result: result() });
      expect(Object.keys((await readCell(0))!.scores)).toEqual(["exact-1"]);
    });

    test("a cell without all scores stays pending until they are added [S4]", async () => {
      await startRun(suites, cells(1));
      await suites.addScores("run-1", 0, "cell-0", SCORES);
      expect(await readCell(0)).toMatchObject({ state: "pending", scores: {} });
      await suites.finishCell(finished(0, { scores: [SCORES[0]!] }));
      expect(await readCell(0)).toMatchObject({ state: "pending", result: result() });
      const other = { ...SCORES[0]!, score: score(0) };
      for (let repeated = 0; repeated < 2; repeated++) {
        await suites.addScores("run-1", 0, "cell-0", [other, SCORES[1]!]);
        expect(await readCell(0)).toMatchObject({
          state: "finished",
          scores: { "exact-1": SCORES[0]!.score, "judge-1": SCORES[1]!.score },
        });
        expect(await suites.countCells("run-1")).toMatchObject({ costUsd: 0.75, paidUsd: 0.75 });
      }
    });

    test("a failed result is replaced by a later attempt alone, and both were paid", async () => {
      await startRun(suites, cells(3));
      const failed = failure({ costUsd: 0.25 });
      await suites.finishCell(finished(0, { result: failed, scores: [] }));
      await suites.finishCell(
        finished(1, { result: failure({ outcome: "timeout", costUsd: 0 }), scores: [] }),
      );
      const counts = { pending: 1, finished: 0, failed: 2, costUsd: 0.25, paidUsd: 0.25 };
      const failures = { api: 1, timeout: 1 };
      expect(await suites.countCells("run-1")).toEqual({ ...counts, failures });
      const found = await suites.readCells("run-1", { after: -1, limit: 9, state: "failed" });
      expect(found.map(({ number }) => number)).toEqual([0, 1]);
      expect(found[0]).toMatchObject({ result: failed });
      expect(await suites.retryFailed("run-1", "api")).toBe(1);
      expect(await suites.retryFailed("run-1", "api")).toBe(0);
      expect(await readStates(suites)).toEqual(["pending", "failed", "pending"]);
      // A repeated request of the first attempt does not undo the retry.
      await suites.finishCell(finished(0, { result: failed, scores: [] }));
      await suites.finishCell(finished(0, { result: result({ attempt: 1 }) }));
      expect(await readCell(0)).toMatchObject({ state: "pending", result: failed, scores: {} });
      const second = result({ attempt: 2, costUsd: 0.5 });
      await suites.finishCell(finished(0, { result: second }));
      expect(await readCell(0)).toMatchObject({ state: "finished", result: second });
      expect(await suites.retryFailed("run-1")).toBe(1);
      expect(await suites.countCells("run-1")).toEqual({
        pending: 2,
        finished: 1,
        failed: 0,
        costUsd: 0.75,
        paidUsd: 1,
        failures: {},
      });
    });

    test("a failure that another run has stored is one of this run too, and nothing was paid for it here", async () => {
      await startRun(suites, cells(1));
      await startRun(suites, cells(1), newRun({ id: "run-2" }));
      const failed = failure({ costUsd: 0.25 });
      await suites.finishCell(finished(0, { result: failed, scores: [] }));
      await suites.finishCell({ ...finished(0, { result: failed, scores: [] }), run: "run-2" });
      expect(await suites.countCells("run-2")).toMatchObject({ pending: 0, failed: 1, paidUsd: 0 });
    });

    test("the cost is unknown if a part of it is", async () => {
      await startRun(suites, cells(2));
      await suites.finishCell(finished(0));
      await suites.finishCell(
        finished(1, { scores: [SCORES[0]!, { scorer: "judge-1", score: score(1, { costUsd: null }) }] }),
      );
      expect((await readCell(1))!.scores["judge-1"]).toEqual(score(1, { costUsd: null }));
      expect(await suites.countCells("run-1")).toMatchObject({ finished: 2, costUsd: null, paidUsd: null });
    });

    test("a run begins with what others have finished and scored by the same scorers", async () => {
      await startRun(suites, cells(5));
      await suites.finishCell(finished(0));
      await suites.finishCell(finished(1, { scores: [SCORES[0]!] }));
      await suites.finishCell(finished(2, { result: failure(), scores: [] }));
      await suites.finishCell(finished(3, { result: result({ costUsd: null }) }));
      await startRun(suites, cells(5), { id: "run-2" });
      expect(await readStates(suites, "run-2")).toEqual([
        "finished",
        "pending",
        "pending",
        "finished",
        "pending",
      ]);
      expect(await suites.readRun("run-2")).toMatchObject({ cells: 5, reused: 2 });
      const counts = { pending: 3, finished: 2, failed: 0, costUsd: null, paidUsd: 0, failures: {} };
      expect(await suites.countCells("run-2")).toEqual(counts);
      // Another scorer, or another version of one, needs a score of its own.
      await startRun(suites, cells(5), { id: "run-3", scorers: ["exact-1", "judge-2"] });
      expect(new Set(await readStates(suites, "run-3"))).toEqual(new Set(["pending"]));
      await suites.addScores("run-3", 0, "cell-0", [{ scorer: "judge-2", score: score(0, { costUsd: 2 }) }]);
      expect(await readCell(0, "run-3")).toMatchObject({ state: "finished" });
      expect(Object.keys((await readCell(0, "run-3"))!.scores).sort()).toEqual(["exact-1", "judge-2"]);
      expect(await suites.countCells("run-3")).toMatchObject({ costUsd: 2.5, paidUsd: 2 });
      // Fewer scorers, or none, have all scores.
      await startRun(suites, cells(5), { id: "run-4", scorers: [] });
      expect(await suites.readRun("run-4")).toMatchObject({ reused: 3 });
      await startRun(suites, cells(5), { id: "run-5", scorers: ["exact-1", "exact-1"] });
      expect(await suites.readRun("run-5")).toMatchObject({ reused: 3 });
    });

    test("two cells of a run with the same id share one result", async () => {
      await startRun(suites, [cell(0), cell(1, { configuration: 1, cell: "cell-0" })]);
      const claim = { owner: "p1", atMs: 100, untilMs: 200 };
      const both = await suites.readPending("run-1", -1, 9);
      expect(await suites.claimCells(both, claim)).toMatchObject([{ type: "claimed" }, { type: "busy" }]);
      await suites.finishCell(finished(0));
      expect(await suites.claimCells(both.slice(1), claim)).toMatchObject([{ number: 1, type: "finished" }]);
      await suites.addScores("run-1", 1, "cell-0", []);
      expect(await readStates(suites)).toEqual(["finished", "finished"]);
      // Its cost was paid once.
      expect(await suites.countCells("run-1")).toMatchObject({ costUsd: 1.5, paidUsd: 0.75 });
    });

    test("a run is deleted in pages after its end; results stay for other runs", async () => {
      await startRun(suites, cells(5), { plan: plan({ tags: ["t"] }) });
      await suites.finishCell(finished(0));
      await expect(suites.deleteRunPage("run-1", 2)).rejects.toThrow(/run-1 has not ended: it is running/);
      await suites.setStatus("run-1", { status: "stopped", atMs: 9 });
      const pages: number[] = [];
      for (let done = false; !done; ) {
        const page = await suites.deleteRunPage("run-1", 2);
        pages.push(page.rows);
        done = page.done;
      }
      expect(pages).toEqual([2, 2, 1, 2, 2, 1, 1]);
      expect(await suites.readRun("run-1")).toBeUndefined();
      expect(await suites.readCases("run-1", 0, 9)).toEqual([]);
      expect(await suites.readCells("run-1", { after: -1, limit: 9 })).toEqual([]);
      expect(await suites.listRuns({ limit: 9, tag: "t" })).toEqual([]);
      expect(await suites.deleteRunPage("run-1", 2)).toEqual({ done: true, rows: 0 });
      await startRun(suites, cells(5), { id: "run-2" });
      expect(await suites.readRun("run-2")).toMatchObject({ reused: 1 });
    });
  });
}
