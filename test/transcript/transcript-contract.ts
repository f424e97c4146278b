import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/schema/definition.ts";
import { FencedError } from "../../src/store/transcript/store-error.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import type { thoroughTest } from "../support/test-depth.ts";
import { testAnswerContract } from "./answer-contract.ts";
import { testArchiveContract } from "./archive-contract.ts";
import { testBranchContract } from "./branch-contract.ts";
import { testCellClaimContract } from "./cell-claim-contract.ts";
import { testDetachedForksContract } from "./detached-forks-contract.ts";
import { testEvaluationContract } from "./evaluation-contract.ts";
import { testFollowingContract } from "./following-contract.ts";
import { testForkProperties } from "./fork-property-contract.ts";
import { testLoopContract } from "./loop-contract.ts";
import { testLoopViewContract } from "./loop-view-contract.ts";
import { testPartsContract } from "./parts-contract.ts";
import { testProperties } from "./property-contract.ts";
import { testRequestedBranchContract } from "./requested-branch-contract.ts";
import {
  answer,
  EMPTY_OUTBOX,
  entry,
  event,
  opening,
  readTexts,
  step,
  USAGE,
  write,
} from "./sample-writes.ts";
import { testStepContract } from "./step-contract.ts";
import { testSuiteContract } from "./suite-contract.ts";
import { testTitleContract } from "./title-contract.ts";

/** A store for one test. `reopen` opens the data of `transcript` again, as another process does. */
export type TranscriptFixture = {
  readonly transcript: Transcript;
  /** Texts are encrypted, so that a search finds nothing. */
  readonly isEncrypted?: boolean;
  reopen(): Promise<Transcript>;
  dispose(): Promise<void>;
};

/**
 * The contract of every implementation of `Transcript`, whatever database it uses.
 *
 * @param random - Declares the tests of random stories: `thoroughTest` if `npm test` runs them on another back end.
 */
export function testTranscriptContract(
  name: string,
  make: () => Promise<TranscriptFixture>,
  random: typeof thoroughTest = test,
): void {
  describe(`${name} fulfils the contract of transcripts [SES-21]`, () => {
    testStepContract(make);
    testBranchContract(make);
    testRequestedBranchContract(make);
    testFollowingContract(make);
    testDetachedForksContract(make);
    testLoopContract(make);
    testLoopViewContract(make);
    testEvaluationContract(make);
    testContentContract(make);
    testProcessContract(make);
    testArchiveContract(make);
    testPartsContract(make, random);
    testTitleContract(make);
    testSuiteContract(make);
    testCellClaimContract(make);
    testAnswerContract(make);
    testProperties(make, random);
    testForkProperties(make, random);
  });
}

function testContentContract(make: () => Promise<TranscriptFixture>): void {
  describe("contents and definitions", () => {
    let bench: TranscriptFixture;
    beforeEach(async () => {
      bench = await make();
    });
    afterEach(() => bench.dispose());

    test("a definition has the same hash whatever the order of its keys", async () => {
      const { transcript } = bench;
      const model = {
        id: "m",
        name: "m",
        api: "anthropic_messages",
        provider: "v",
        baseUrl: "http://127.0.0.1:1",
      };
      const definition = { name: "a", model, tools: ["x"] } as unknown as AgentDefinition;
      const turned = { tools: ["x"], model: Object.fromEntries(Object.entries(model).reverse()), name: "a" };
      const hash = await transcript.saveDefinition(definition);
      expect(hash).toMatch(/^[0-9a-f]{64}$/);
      expect(await transcript.saveDefinition(turned as unknown as AgentDefinition)).toBe(hash);
      expect(await transcript.readDefinition(hash)).toEqual(definition);
      expect(await transcript.readDefinition("0".repeat(64))).toBeUndefined();
    });

    test.each([
      ["an ordinary text", "hello"],
      ["NUL and other control characters", "a\0b\u0001\n"],
      ["non-ASCII characters", "ä€😀 "],
      ["an empty text", ""],
      ["a megabyte", "xyz ".repeat(250_000)],
    ])("a text is returned unchanged: %s", async (_, text) => {
      const hash = await bench.transcript.putText(text, 1);
      expect(await bench.transcript.putText(text, 2)).toBe(hash);
      expect(await bench.transcript.readText(hash)).toBe(text);
    });

    test.each([100, 3000, 3_000_000])("a message of %d characters is returned unchanged", async (size) => {
      const { transcript } = bench;
      const { loopId } = await transcript.openLoop(opening());
      const spoken = answer(`\0"\ud83d\ude00\u2028${"ü".repeat(size)}`);
      const target = { loopId, branch: "main", base: 1 };
      await transcript.store(write(target, { entries: [{ position: 1, origin: "model", message: spoken }] }));
      expect((await transcript.readEntries("s", "main", 1, 2))[0]?.message).toEqual(spoken);
    });

    test("two processes see each other's writes", async () => {
      const { transcript } = bench;
      const { loopId } = await transcript.openLoop(opening());
      const other = await bench.reopen();
      const target = { loopId, branch: "main", base: 1 };
      await transcript.store(write(target, { entries: [entry(1, "one")] }));
      expect(await readTexts(other, "s", "main")).toEqual(["hello", "one"]);
      await other.store(
        write(
          { ...target, base: 2 },
          { step: step({ number: 2, process: "p2" }), entries: [entry(2, "two")] },
        ),
      );
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one", "two"]);
      await other.close();
    });
  });
}

function testProcessContract(make: () => Promise<TranscriptFixture>): void {
  describe("processes", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
    });
    afterEach(() => bench.dispose());

    test("are registered by host and unregistered", async () => {
      const process = { id: "p1", host: "h", pid: 7, startTime: "99", namespace: "n", taskQueue: "q" };
      await transcript.registerProcess(process);
      await transcript.registerProcess({ ...process, id: "p2", host: "elsewhere" });
      await transcript.registerProcess(process);
      expect(await transcript.listProcesses("h")).toEqual([process]);
      await transcript.unregisterProcess("p1");
      expect(await transcript.listProcesses("h")).toEqual([]);
    });

    test("leave claims without a result when they die, and the runs that may wait for them", async () => {
      const { loopId } = await transcript.openLoop(opening());
      const target = { loopId, branch: "main", base: 1 };
      const claim = (number: number, of: object = {}) =>
        transcript.claim(step({ number, activityId: `a${number}`, ...of }), target, EMPTY_OUTBOX, number);
      await claim(1);
      await transcript.store(write(target, { step: step({ number: 1, activityId: "a1" }) }));
      await claim(2);
      await transcript.release(step({ number: 2 }));
      await claim(3, { activityId: undefined });
      await claim(4, { process: "p2" });
      await claim(5);
      expect(await transcript.findDeadProcessWork("p1")).toEqual({
        activities: [{ workflow: "s", run: "r1", number: 5, call: 0, activityId: "a5", executions: 1 }],
        runs: [{ workflow: "s", run: "r1" }],
      });
      expect((await transcript.findDeadProcessWork("p2")).activities).toMatchObject([{ number: 4 }]);
      await transcript.closeLoop({
        ...write(target, { step: step({ number: 9 }) }),
        status: "completed",
        outcome: { type: "stopped", reason: "" },
        usage: USAGE,
        costUsd: 0,
        turns: 1,
        to: 1,
      });
      expect(await transcript.findDeadProcessWork("p1")).toEqual({
        activities: [],
        runs: [{ workflow: "s", run: "r1" }],
      });
      await transcript.unregisterProcess("p1");
      expect((await transcript.findDeadProcessWork("p1")).runs).toEqual([]);
    });

    test("also leave the runs that called those they worked on", async () => {
      const at = (session: string, run: string, process = "p1") => step({ session, run, process });
      const spawnedBy = (session: string, of: string) => ({
        spawn: { session: of, loopId: "l", turn: 0, toolCallId: `to-${session}`, toolName: "scout" },
      });
      await transcript.openLoop(opening({ step: at("s", "r1", "p0") }));
      await transcript.openLoop(opening({ step: at("s2", "r2", "p0"), ...spawnedBy("s2", "s") }));
      await transcript.openLoop(opening({ step: at("s3", "r3"), ...spawnedBy("s3", "s2") }));
      const { runs } = await transcript.findDeadProcessWork("p1");
      expect(runs.map(({ workflow, run }) => `${workflow} ${run}`).sort()).toEqual([
        "s r1",
        "s2 r2",
        "s3 r3",
      ]);
    });

    test("also leave a result that no later step follows, because it may not have been reported", async () => {
      const { loopId } = await transcript.openLoop(opening());
      const target = { loopId, branch: "main", base: 1 };
      await transcript.store(write(target));
      expect((await transcript.findDeadProcessWork("p1")).activities).toMatchObject([
        { number: 1, activityId: "1" },
      ]);
      await transcript.claim(step({ number: 2, activityId: undefined }), target, EMPTY_OUTBOX, 1);
      expect((await transcript.findDeadProcessWork("p1")).activities).toEqual([]);
    });

    test("are recorded in their steps, with kind and start time", async () => {
      const { loopId } = await transcript.openLoop(opening());
      const target = { loopId, branch: "main", base: 1 };
      await transcript.claim(step(), target, { entries: [], events: [event(0)] }, 50);
      await transcript.setProcessGroup(step(), { pgid: 44, startTime: "12" });
      expect((await transcript.readSteps("s"))[1]).toEqual({
        run: "r1",
        loopId,
        number: 1,
        call: 0,
        session: "s",
        kind: "model",
        generation: 1,
        executions: 1,
        process: "p1",
        startedAtMs: 50,
        group: { pgid: 44, startTime: "12" },
      });
      await expect(transcript.release(step({ generation: 2 }))).rejects.toThrow(FencedError);
    });
  });
}
