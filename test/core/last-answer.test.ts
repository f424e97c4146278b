import { describe, expect, test } from "vitest";
import { findReachedLimit } from "../../src/core/budget/limits.ts";
import { apply } from "../../src/core/machine/apply.ts";
import { next } from "../../src/core/machine/next.ts";
import { EMPTY_OUTBOX, emit, isEmpty } from "../../src/core/machine/outbox.ts";
import { EMPTY_QUEUES, pollQueue } from "../../src/core/machine/queues.ts";
import { buildInitialState } from "../../src/core/machine/start.ts";
import type { LoopDigest } from "../../src/core/machine/state/digest.ts";
import type { Continuation } from "../../src/schema/continuation.ts";
import { play, type Run } from "./support/run.ts";
import { calls, large, NO_LIMITS, says } from "./support/script.ts";

// What a loop records and counts at its end, and edge cases of its rules that mutation testing found.

const agentEnd = (run: Run, loop = 0) => {
  const { loopId } = run.transcript.records[loop] ?? { loopId: "" };
  return run.transcript.listEvents(loopId).at(-1)?.body;
};
const entry = (run: Run, fromEnd: number) => run.transcript.listEntries(run.state.branch).at(fromEnd);
const TWO_TURNS = { replies: [large(calls("edit")), large(calls("edit")), says("done")] };

describe("the end of a loop", () => {
  test("has no rejection when the input was not rejected [FILT-03.2]", async () => {
    expect(agentEnd(await play().settle())).not.toHaveProperty("rejection");
  });

  test("uses the text of a failed answer as the error message", async () => {
    const failed = async (text: string) =>
      (await play({ replies: [says(text, { stopReason: "error" })] }).settle()).state.last?.outcome;
    expect(await failed("The vendor is ill")).toMatchObject({ type: "failed", fault: "api" });
    expect(await failed("The vendor is ill")).toMatchObject({
      message: expect.stringContaining("The vendor is ill"),
    });
  });

  test("uses a default error message for a failed answer without text", async () => {
    const run = await play({ replies: [says("", { stopReason: "error" })], light: true }).settle();
    const message = "the vendor's answer says that it failed";
    expect(run.state.last?.outcome).toEqual({ type: "failed", fault: "api", message });
  });

  test("is a stop with a reason when the answer was aborted", async () => {
    const run = await play({ replies: [says("half", { stopReason: "aborted" })] }).settle();
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "the answer was aborted" });
  });

  test("counts a failed turn, records it with origin machine, and adds it to the view as a turn [LOOP-24.3]", async () => {
    const run = await play({ mode: "interactive" }).until("call-model").fail("auth", "no such key").settle();
    expect(run.state.totals.turns).toBe(1);
    expect(entry(run, -1)).toMatchObject({ origin: "machine", message: { stopReason: "error" } });
    expect(run.state.view.spans.map(({ turns }) => turns)).toEqual([1, 1]);
  });

  test("adds the limit message to the view as a turn of its own, separate from the results before it [LOOP-12.2]", async () => {
    const run = await play({
      limits: { maxTurns: 1 },
      replies: [calls("edit")],
      mode: "interactive",
    }).settle();
    expect(run.state.view.spans.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 3],
      [3, 4],
    ]);
  });
});

describe("a context that could not be compacted", () => {
  const outcome = (run: Run) => run.state.last?.outcome as { type: string; fault: string; message: string };

  test("fails the loop with the vendor's overflow error and the reason why compaction failed", async () => {
    const run = await play({ compactAbove: 1_000_000 }).until("call-model");
    await run
      .fail("overflow", "prompt is too long")
      .until("compact")
      .fail("other", "the disk is gone")
      .settle();
    expect(outcome(run)).toMatchObject({ type: "failed", fault: "other" });
    expect(outcome(run).message).toContain("prompt is too long");
    expect(outcome(run).message).toContain("The context could not be made smaller: the disk is gone");
    expect(entry(run, -1)).toMatchObject({
      message: { stopReason: "error", errorMessage: outcome(run).message },
    });
  });

  test("fails the loop with the compaction error alone when the vendor rejected nothing", async () => {
    const run = await play({ ...TWO_TURNS, compactAbove: 300 }).until("compact");
    await run.lose().lose().lose().settle();
    expect(outcome(run).message).toMatch(
      /^The context could not be made smaller: 3 workers died during the compaction/,
    );
  });

  test("is recorded as a failed turn when it overflows twice", async () => {
    const run = await play({ ...TWO_TURNS, compactAbove: 1_000_000 })
      .until("call-model")
      .step();
    await run.until("call-model").step().until("call-model");
    await run.fail("overflow", "prompt is too long").until("call-model");
    await run.fail("overflow", "prompt is too long").settle();
    expect(entry(run, -1)).toMatchObject({ message: { stopReason: "error" } });
  });

  test("is compacted on the vendor's first overflow even after a compaction for another reason [OVF-05.2]", async () => {
    const run = await play({ ...TWO_TURNS, compactAbove: 300 })
      .until("compact")
      .until("call-model");
    await run.fail("overflow", "prompt is too long");
    expect(run.command.type).toBe("compact");
  });

  test("is sent to no model when a stop arrives during the compaction", async () => {
    const run = await play({ ...TWO_TURNS, compactAbove: 300 }).until("compact");
    const asked = run.asked.length;
    await run.stop("enough").settle();
    expect(run.asked).toHaveLength(asked);
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });
});

describe("a loop that opens without a new message", () => {
  const opened = async (continuation?: Continuation) => {
    const { pinned } = (await play().settle()).state;
    const common = { session: "s", mode: "run", idleTimeoutMs: null, localSteps: true } as const;
    const prompts = continuation === undefined ? [{ id: "known", text: "again", atMs: 0 }] : [];
    const asked = { hash: "hash-asked" };
    const fresh = buildInitialState({
      ...common,
      requestedDefinition: asked,
      prompts,
      nowMs: 0,
      ...(continuation === undefined ? {} : { continuation }),
    });
    const digest = {
      ...pinned,
      loopId: "s.m.2",
      kind: { type: "default" },
      branch: "main",
      from: 3,
      tokensBefore: 10,
      entries: [],
      warnings: [],
    } as unknown as LoopDigest;
    return apply(apply(fresh, { type: "started", atMs: 0 }), { type: "loop-opened", digest, atMs: 1 });
  };

  test("calls the model when it continues the existing conversation [LOOP-04.1]", async () => {
    expect(next(await opened({ kind: { type: "default" } }))).toMatchObject({
      type: "call-model",
      view: { ranges: [{ from: 0, to: 3 }] },
    });
  });

  test("ends as delivered with no messages when its prompt is a duplicate", async () => {
    expect(next(await opened())).toMatchObject({
      type: "close-loop",
      outcome: { type: "delivered", messages: 0 },
    });
  });
});

describe("edge cases", () => {
  test("an idle run still has an idle deadline after continue-as-new", async () => {
    const run = await play({ mode: "interactive", idleTimeoutMs: 1000 }).until("call-model").rotationDue();
    await run.until("rotate").continueAsNew();
    expect(run.command).toEqual({ type: "wait", untilMs: expect.any(Number) });
  });

  test("the cost limit is reached when the amount equals it, not only above it [LIM-02.2]", () => {
    const limits = { ...NO_LIMITS, maxCostUsd: 1 };
    const spent = { turns: 0, tokens: 0, durationMs: 0, costUsd: 1, toolCalls: 0 };
    expect(findReachedLimit(limits, spent)).toBe("Max cost reached ($1.0000/$1.0000)");
    expect(findReachedLimit(limits, { ...spent, costUsd: 0.999 })).toBeUndefined();
  });

  test("an outbox is empty when it has neither entries nor events", () => {
    const event = { sequence: 0, atMs: 0, body: { type: "InputRejected" as const, reason: "no" } };
    expect(isEmpty(EMPTY_OUTBOX)).toBe(true);
    expect(isEmpty({ entries: [], events: [event] })).toBe(false);
    const body = { type: "notice" as const, text: "x" };
    const waiting = { position: 0, origin: "machine" as const, atMs: 0, turn: 0, body };
    expect(isEmpty({ entries: [waiting], events: [] })).toBe(false);
  });

  test("an event without a loop is dropped", async () => {
    const { state } = await play().settle();
    expect(emit(state, { type: "InputRejected", reason: "no" })).toBe(state);
  });

  test("a queue delivers one message at a time by default, even before a definition is known [STEER-02.1]", () => {
    const fresh = play({ held: true }).state;
    const message = (id: string) => ({ id, text: id, atMs: 0 });
    const queues = {
      ...EMPTY_QUEUES,
      steering: [message("a"), message("b")],
      followUps: [message("c"), message("d")],
    };
    expect(pollQueue({ ...fresh, queues }, "steering").taken.map(({ id }) => id)).toEqual(["a"]);
    expect(pollQueue({ ...fresh, queues }, "followUps").taken.map(({ id }) => id)).toEqual(["c"]);
  });
});
