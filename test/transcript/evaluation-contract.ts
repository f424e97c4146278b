import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type {
  EvaluationClosing,
  EvaluationOpening,
  OpenedEvaluation,
} from "../../src/store/transcript/evaluation.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import {
  EMPTY_OUTBOX,
  entry,
  event,
  message,
  opening,
  readTexts,
  step,
  USAGE,
  write,
} from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

const AGENT = { segment: "v.m", definitionHash: "d", agentName: "agent", model: "m" };
const OTHER = { ...AGENT, definitionHash: "d2", agentName: "other", model: "m2" };
const JUDGE = { ...AGENT, segment: "v.j", agentName: "judge" };

/** Tests of parallel loops in one session, one of which is selected. */
export function testEvaluationContract(make: () => Promise<TranscriptFixture>): void {
  describe("evaluations", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
    });
    afterEach(() => bench.dispose());

    const evaluating = (of: Partial<EvaluationOpening> = {}): EvaluationOpening => ({
      step: step({ run: "e", number: 0, kind: "open-evaluation" }),
      atMs: 300,
      strategy: "judge",
      branches: [AGENT, OTHER],
      judge: JUDGE,
      ...of,
    });
    const branch = (index: number, { evaluation, at, parentLoopId, branches }: OpenedEvaluation) =>
      opening({
        step: step({ run: `b${index}`, number: 0, workflow: `s.branch-${index}` }),
        agentName: "somebody",
        definitionHash: `d${index}`,
        prompts: [message(`p${index}`, "compare")],
        part: { evaluation, at, number: branches[index]!.number, parentLoopId },
      });
    const close = (index: number, { loopId, branch: on }: { loopId: string; branch: string }, base: number) =>
      transcript.closeLoop({
        ...write({ loopId, branch: on, base }, { step: step({ run: `b${index}`, number: 2 }) }),
        status: "completed",
        outcome: { type: "answered", stopReason: "stop" },
        usage: USAGE,
        costUsd: 0,
        turns: 1,
        to: base,
      });
    const deciding = (selectedLoopId: string | undefined, selected = 1): EvaluationClosing => ({
      step: step({ run: "e", number: 3, kind: "select-branch" }),
      evaluation: "e",
      atMs: 900,
      decision: { selected, decidedBy: "strategy", reason: "Why not." },
      loopIds: ["s.v.m.1", "s.v.m.2"],
      ...(selectedLoopId === undefined ? {} : { selectedLoopId }),
      evaluationUsage: USAGE,
      status: "completed",
      result: { done: "decided" },
    });

    test("create a new session, and number the branches and the judge consecutively [X-16.1, PAR-13.1]", async () => {
      const opened = await transcript.openEvaluation(evaluating());
      expect(opened).toEqual({
        evaluation: "e",
        at: { branch: "main", position: 0 },
        branches: [
          { loopId: "s.v.m.1", number: 1 },
          { loopId: "s.v.m.2", number: 2 },
        ],
        judge: { loopId: "s.v.j.3", number: 3 },
      });
      expect(await transcript.readSession("s")).toMatchObject({
        status: "running",
        loops: 0,
        headBranch: "main",
      });
      const again = evaluating({
        step: step({ run: "e", number: 0, kind: "open-evaluation", generation: 2, process: "p2" }),
      });
      expect(await transcript.openEvaluation(again)).toEqual(opened);
      expect(await transcript.readEvaluations("s")).toHaveLength(1);
    });

    test("start each loop at the session's head, on a branch of its own, and leave the session unchanged", async () => {
      const first = await transcript.openLoop(opening());
      await transcript.store(
        write({ loopId: first.loopId, branch: "main", base: 1 }, { entries: [entry(1, "hi")] }),
      );
      const before = await transcript.readSession("s");
      await transcript.storeInbox(
        write({ loopId: "", branch: "main", base: 0 }, { step: step({ number: 2 }) }),
        [message("i1")],
      );
      const opened = await transcript.openEvaluation(evaluating());
      expect(opened).toMatchObject({ at: { branch: "main", position: 2 }, parentLoopId: first.loopId });
      expect(opened.branches.map(({ loopId }) => loopId)).toEqual(["s.v.m.2", "s.v.m.3"]);
      const one = await transcript.openLoop(branch(0, opened));
      const two = await transcript.openLoop(branch(1, opened));
      for (const loop of [one, two]) {
        expect(loop).toMatchObject({ from: 2, parentLoopId: first.loopId, entries: [{ origin: "prompt" }] });
        expect(loop.branch).not.toBe("main");
      }
      expect(one.branch).not.toBe(two.branch);
      await transcript.store(
        write({ ...one, base: 3 }, { step: step({ run: "b0" }), entries: [entry(3, "one")] }),
      );
      expect(await readTexts(transcript, "s", one.branch)).toEqual(["hello", "hi", "compare", "one"]);
      expect(await readTexts(transcript, "s", two.branch)).toEqual(["hello", "hi", "compare"]);
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "hi"]);
      const { agentName, definitionHash, headBranch } = (await transcript.readSession("s"))!;
      expect({ agentName, definitionHash, headBranch }).toMatchObject({
        agentName: before?.agentName,
        definitionHash: before?.definitionHash,
        headBranch: "main",
      });
      const statuses = (await transcript.readLoops("s")).map(({ status }) => status);
      expect(statuses).toEqual(["aborted", "running", "running"]);
      expect((await transcript.readInbox("s")).map(({ id }) => id)).toEqual(["i1"]);
    });

    test("make the selected branch the session's head, and record the group with every loop [SES-12.1-3]", async () => {
      const opened = await transcript.openEvaluation(evaluating());
      const one = await transcript.openLoop(branch(0, opened));
      const two = await transcript.openLoop(branch(1, opened));
      await close(0, one, 1);
      await close(1, two, 1);
      expect(await transcript.readSession("s")).toMatchObject({ status: "running", headBranch: "main" });
      expect((await transcript.readLoops("s")).map(({ parallel }) => parallel)).toEqual([
        undefined,
        undefined,
      ]);
      expect(await transcript.closeEvaluation(deciding(two.loopId))).toEqual({ done: "decided" });
      expect(
        await transcript.closeEvaluation({ ...deciding(one.loopId, 0), result: { done: "anew" } }),
      ).toEqual({
        done: "decided",
      });
      const group = {
        allLoopIds: [one.loopId, two.loopId],
        selectedLoopId: two.loopId,
        selectedConfigIndex: 1,
        evaluationUsage: USAGE,
      };
      expect(await transcript.readLoops("s")).toMatchObject([
        { evaluation: "e", parallel: { ...group, isSelected: false } },
        { evaluation: "e", parallel: { ...group, isSelected: true } },
      ]);
      expect(await transcript.readSession("s")).toMatchObject({
        status: "completed",
        headBranch: two.branch,
        agentName: "other",
        definitionHash: "d1",
        loops: 2,
      });
      const next = await transcript.openLoop(
        opening({ step: step({ number: 7 }), prompts: [message("n", "next")] }),
      );
      expect(next).toMatchObject({
        branch: two.branch,
        from: 1,
        parentLoopId: two.loopId,
        loopId: "s.v.m.3",
      });
    });

    test("leave the head unchanged if there is no loop to select, and never reuse numbers", async () => {
      await transcript.openEvaluation(evaluating());
      await transcript.closeEvaluation(deciding(undefined, 0));
      expect(await transcript.readSession("s")).toMatchObject({ headBranch: "main", status: "completed" });
      const [record] = await transcript.readEvaluations("s");
      expect(record).toMatchObject({
        id: "e",
        strategy: "judge",
        branches: [
          { loopId: "s.v.m.1", agentName: "agent" },
          { loopId: "s.v.m.2", agentName: "other" },
        ],
        judgeLoopId: "s.v.j.3",
        endedAtMs: 900,
        closed: { decision: { selected: 0 } },
      });
      const second = evaluating({ step: step({ run: "e2", number: 0 }), judge: undefined });
      expect((await transcript.openEvaluation(second)).branches.map(({ number }) => number)).toEqual([3, 4]);
    });

    test("give a new number to a branch that is opened again after a reset", async () => {
      const opened = await transcript.openEvaluation(evaluating({ judge: undefined }));
      const first = await transcript.openLoop(branch(0, opened));
      const reset = branch(0, opened);
      const again = await transcript.openLoop({ ...reset, step: { ...reset.step, run: "b0-reset" } });
      expect([first.loopId, again.loopId]).toEqual(["s.v.m.1", "s.v.m.3"]);
      await transcript.closeEvaluation({
        ...deciding(again.loopId, 0),
        loopIds: [again.loopId, "s.v.m.2"],
      });
      const groups = (await transcript.readLoops("s")).map(({ loopId, parallel }) => [
        loopId,
        parallel?.isSelected,
      ]);
      expect(groups).toEqual([
        ["s.v.m.1", undefined],
        ["s.v.m.3", true],
      ]);
      expect((await transcript.readSession("s"))?.agentName).toBe("agent");
    });

    test("abort open loops when the evaluation closes or the next loop opens", async () => {
      const opened = await transcript.openEvaluation(evaluating());
      const one = await transcript.openLoop(branch(0, opened));
      await transcript.openLoop(branch(1, opened));
      await close(0, one, 1);
      await transcript.closeEvaluation(deciding(one.loopId, 0));
      expect((await transcript.readLoops("s")).map(({ status }) => status)).toEqual(["completed", "aborted"]);
      const second = await transcript.openEvaluation(evaluating({ step: step({ run: "e2", number: 0 }) }));
      const left = branch(0, second);
      await transcript.openLoop({ ...left, step: { ...left.step, run: "b9" } });
      await transcript.openLoop(opening({ step: step({ number: 9 }), prompts: [message("n")] }));
      expect((await transcript.readLoops("s")).map(({ status }) => status)).toEqual([
        "completed",
        "aborted",
        "aborted",
        "running",
      ]);
    });

    test("apply the grants of the selected branch to the session", async () => {
      const grant = { tool: "bash" } as never;
      const opened = await transcript.openEvaluation(evaluating());
      for (const index of [0, 1]) {
        const loop = await transcript.openLoop(branch(index, opened));
        await transcript.closeLoop({
          ...write({ ...loop, base: 1 }, { step: step({ run: `b${index}`, number: 2 }) }),
          status: "completed",
          outcome: { type: "stopped", reason: "" },
          usage: USAGE,
          costUsd: 0,
          turns: 1,
          to: 1,
          ...(index === 0 ? { grants: [grant] } : {}),
        });
      }
      await transcript.closeEvaluation(deciding(opened.branches[0]!.loopId, 0));
      const next = await transcript.openLoop(opening({ step: step({ number: 7 }), prompts: [message("n")] }));
      expect(next.grants).toEqual([grant]);
    });

    test("keep the first warning [PAR-12.1]", async () => {
      await transcript.openEvaluation(evaluating());
      await transcript.setEvaluationWarning("e", "too large");
      await transcript.setEvaluationWarning("e", "far too large");
      expect((await transcript.readEvaluations("s"))[0]?.warning).toBe("too large");
    });

    test("name the branch's workflow in the unfinished work of a dead worker", async () => {
      const opened = await transcript.openEvaluation(evaluating());
      const { loopId, branch: on } = await transcript.openLoop(branch(0, opened));
      const claimed = step({ run: "b0", number: 1, workflow: "s.branch-0", activityId: "a1" });
      await transcript.claim(
        claimed,
        { loopId, branch: on, base: 1 },
        { ...EMPTY_OUTBOX, events: [event(0)] },
        1,
      );
      const left = await transcript.findDeadProcessWork("p1");
      expect(left.activities).toMatchObject([
        { workflow: "s.branch-0", run: "b0", number: 1, activityId: "a1" },
        { workflow: "s", run: "e", number: 0 },
      ]);
      expect(left.runs.map(({ workflow }) => workflow).sort()).toEqual(["s", "s.branch-0"]);
    });
  });
}
