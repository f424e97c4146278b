import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import { countContextTokens, findCompactionReason } from "../../src/core/machine/compact-view.ts";
import { next } from "../../src/core/machine/next.ts";
import type { CompactCommand } from "../../src/core/machine/state/activity-command.ts";
import { play, type Run } from "./support/run.ts";
import { calls, large, type Reply, says, usageOf } from "./support/script.ts";

const edit = large(calls("edit"));
const TURNS: readonly Reply[] = [edit, edit, edit, edit, says("done")];

const kinds = (run: ReturnType<typeof play>) =>
  run.commands.map(({ type }) => type).filter((type) => type === "call-model" || type === "compact");

describe("a view that has grown", () => {
  test("is compacted immediately before the model call, which uses the compacted view", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).settle();
    expect(kinds(run)).toContain("compact");
    const at = run.commands.findLastIndex(({ type }) => type === "compact");
    const after = run.commands[at + 1];
    expect(after?.type).toBe("call-model");
    const asked = run.asked.find((command) => command.number === (after as { number: number }).number);
    expect(asked?.view.ranges[0]).toMatchObject({ from: 0, replacement: { section: 0 } });
  });

  test("emits compaction events directly after TurnStart, and only if something changed (X-11) [EVT-13.2, LOOP-25.3, X-11.2]", async () => {
    const lines = (await play({ replies: TURNS, compactAbove: 300 }).settle()).eventLines();
    const started = lines.findIndex((line) => line.startsWith("CompactionStarted"));
    expect(lines[started + 1]).toContain("CompactionEnded");
    expect(lines[started - 1]).toMatch(/TurnStart/);
    const small = await play({ replies: [says("done")], compactAbove: 2 }).settle();
    expect(kinds(small)).toEqual(["compact", "call-model"]);
    expect(small.eventLines().filter((line) => line.startsWith("Compaction"))).toEqual([]);
  });

  test("is measured by the vendor's token count plus an estimate of later messages (CTX-05.1)", async () => {
    const replies = [{ ...calls("edit"), usage: usageOf(900, 50) }, says("done")];
    const run = await play({ replies }).until("call-tools");
    expect(countContextTokens(run.state)).toBe(950);
    await run.step();
    expect(countContextTokens(run.state)).toBeGreaterThan(950);
    expect(kinds(await play({ replies, compactAbove: 940 }).settle())).toEqual([
      "call-model",
      "compact",
      "call-model",
    ]);
  });

  test("is estimated alone after a compaction: the vendor's count of what was sent before is forgotten [CTX-05.3]", async () => {
    const replies = [...TURNS.slice(0, 3), { ...calls("edit"), usage: usageOf(900, 50) }, says("done")];
    const run = await play({ replies, compactAbove: 940 }).until("compact");
    expect(run.state.reportedSize?.tokens).toBe(950);
    await run.step();
    expect(run.command.type).toBe("call-model");
    expect(run.state.reportedSize).toBeUndefined();
  });

  test("is compacted before each model call, and never if the definition disables compaction [LOOP-14.1-2]", async () => {
    const replies = [calls("edit"), calls("edit"), says("done")];
    const each = ["compact", "call-model"];
    expect(kinds(await play({ replies, compactAbove: 2 }).settle())).toEqual([...each, ...each, ...each]);
    expect(kinds(await play({ replies }).settle())).toEqual(["call-model", "call-model", "call-model"]);
  });

  test("is compacted above its threshold, but not at it [CTX-09.1]", async () => {
    const { state } = await play({ compactAbove: 1_000_000 }).until("call-model");
    const due = (compactAbove: number) =>
      findCompactionReason({
        ...state,
        pinned: { ...state.pinned, context: { compactAbove } } as typeof state.pinned,
      });
    expect(due(countContextTokens(state))).toBeUndefined();
    expect(due(countContextTokens(state) - 1)).toEqual({ type: "size" });
  });

  test("cannot be pruned before the compaction: what a model may prune begins after it [PRUN-09.1]", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact");
    const position = run.state.length;
    await run.step();
    while (run.state.view.prunableFrom === undefined) await run.until("compact").step();
    expect(run.state.view.prunableFrom).toBe(run.state.length);
    expect(run.state.length).toBeGreaterThan(position);
  });

  test("is never compacted if the definition disables compaction, whatever its size", async () => {
    const replies = [{ ...calls("edit"), usage: usageOf(1_000_000, 0) }, says("done")];
    expect(kinds(await play({ replies }).settle())).toEqual(["call-model", "call-model"]);
  });

  test("is sent unchanged if its compaction fails", async () => {
    const run = await play({ replies: [says("done")], compactAbove: 2 }).until("compact");
    await run.fail("other").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });
});

describe("the cost of a compaction", () => {
  /** Performs the first compaction and reports it with the usage and cost of its model. */
  const compactedFor = async (run: Run, costUsd?: number): Promise<Run> => {
    await run.until("compact");
    const told = await run.perform(run.command as CompactCommand);
    if (told.type !== "compacted") throw new Error(`Not a compaction: ${told.type}`);
    const usage = usageOf(70, 30);
    return run.tell({
      ...told,
      digest: { ...told.digest, usage, ...(costUsd === undefined ? {} : { costUsd }) },
    });
  };
  const replies: readonly Reply[] = [
    { ...calls("edit"), usage: usageOf(1000, 5), costUsd: 0.5 },
    { ...calls("edit"), usage: usageOf(10, 5), costUsd: 0.5 },
    says("done"),
  ];

  test("is added to the usage and cost of the loop", async () => {
    const run = await compactedFor(play({ replies, compactAbove: 900 }), 0.25);
    expect(run.state.loop).toMatchObject({
      costUsd: 0.75,
      usage: { input: 1070, output: 35, totalTokens: 1105 },
    });
  });

  test("consists of tokens only if the price is unknown", async () => {
    const run = await compactedFor(play({ replies, compactAbove: 900 }));
    expect(run.state.loop).toMatchObject({ costUsd: 0.5, usage: { input: 1070, output: 35 } });
  });

  test("can end the loop at its cost limit", async () => {
    const run = await (
      await compactedFor(play({ replies, compactAbove: 900, limits: { maxCostUsd: 1.2 } }), 0.25)
    ).settle();
    expect(run.asked).toHaveLength(2);
    expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
  });
});

describe("a compaction that a user requests", () => {
  test("runs once, with the focus from the request [CTX-18.1]", async () => {
    const run = await play({ replies: TURNS, compactAbove: 1_000_000 }).until("call-tools");
    await run.compact("the prices").settle();
    const asked = run.commands.filter((command) => command.type === "compact");
    expect(asked).toMatchObject([{ reason: { type: "request", focus: "the prices" } }]);
  });

  test("is ignored if the definition disables compaction [CMP-13.3]", async () => {
    const run = await play({ replies: TURNS, mode: "interactive" }).until("call-tools").compact().settle();
    await run.compact().settle();
    expect(run.commands.filter(({ type }) => type === "compact")).toEqual([]);
    expect(run.transcript.records).toHaveLength(1);
  });
});

describe("a compaction of a run that waits for a prompt", () => {
  const rest = () => play({ replies: TURNS, mode: "interactive", compactAbove: 1_000_000 }).settle();
  const eventsOfLast = (run: ReturnType<typeof play>) =>
    run.transcript.listEvents(run.transcript.records.at(-1)?.loopId ?? "").map(({ body }) => body);

  test("is a separate loop without a model call or a turn, and the run waits again afterwards [LOOP-06.3, CMP-13.1-2]", async () => {
    const run = await rest();
    const asked = run.asked.length;
    await run.compact("the prices").settle();
    expect(run.asked).toHaveLength(asked);
    expect(eventsOfLast(run).map(({ type }) => type)).toEqual([
      "AgentStart",
      "CompactionStarted",
      "CompactionEnded",
      "AgentEnd",
    ]);
    expect(eventsOfLast(run)[0]).toMatchObject({ kind: { type: "compaction" } });
    expect(run.state.last?.outcome).toEqual({ type: "answered", stopReason: "contextCompacted" });
    expect(run.command.type).toBe("wait");
    expect(run.commands.findLast(({ type }) => type === "compact")).toMatchObject({
      reason: { type: "request", focus: "the prices" },
    });
    await run.prompt("next").until("call-model");
    expect(run.state.view.spans[0]).toMatchObject({ from: 0, replacement: { section: 0 } });
  });

  test("that is stopped while it runs ends as stopped, once", async () => {
    const run = await rest().compact().until("compact").stop("enough");
    await run.setBack({ type: "cancelled" }).settle();
    expect(eventsOfLast(run).map(({ type }) => type)).toEqual(["AgentStart", "AgentEnd"]);
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });

  test("that fails reports the error and leaves the view unchanged", async () => {
    const run = await rest();
    const { spans } = run.state.view;
    await run.compact().until("compact").fail("api", "no").settle();
    expect(run.state.last?.outcome).toEqual({ type: "failed", fault: "api", message: "no" });
    expect(run.state.view.spans).toEqual(spans);
  });
});

describe("a context that the vendor rejects as too long", () => {
  const three = [calls("edit"), calls("edit"), calls("edit")];
  /** A run after three turns, the first of which can be summarised. */
  const grown = async (...replies: readonly Reply[]) => {
    const run = play({ replies: [...three, ...replies], compactAbove: 1_000_000 });
    while (run.asked.length < 3) await run.step();
    return await run.until("call-model");
  };
  const kindsBehind = (run: Run) => kinds(run).slice(3);

  test("is compacted and sent once more [OVF-04.1, OVF-05.1-2, X-09.1]", async () => {
    const run = await grown();
    await run.fail("overflow", "prompt is too long").settle();
    expect(kindsBehind(run)).toEqual(["compact", "call-model"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("is also compacted and sent once more if the vendor reports the overflow in its answer [OVF-04.2]", async () => {
    const run = await grown(says("", { stopReason: "error", error: "prompt is too long" }));
    await run.settle();
    expect(kindsBehind(run)).toEqual(["call-model", "compact", "call-model"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("twice ends the loop with an error that names the attempted compaction [X-09.2]", async () => {
    const run = await grown();
    await run.fail("overflow", "prompt is too long").until("call-model");
    await run.fail("overflow", "prompt is too long").settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "overflow" });
    const { outcome } = run.state.last ?? {};
    expect(outcome?.type === "failed" && outcome.message).toMatch(/even after a compaction in turn 3/);
  });

  test("and that cannot be made smaller is not sent again: the loop fails and emits no compaction event [OVF-05.1]", async () => {
    const run = await play({ compactAbove: 1_000_000 }).until("call-model");
    await run.fail("overflow", "prompt is too long").until("compact");
    const digest = {
      branch: "main",
      messagesBefore: 1,
      messagesAfter: 1,
      tokensBefore: 9,
      tokensAfter: 9,
      loopsCompacted: 0,
    };
    const after = apply(run.state, { type: "compacted", digest, atMs: run.state.nowMs });
    expect(next(after)).toMatchObject({
      type: "close-loop",
      outcome: {
        type: "failed",
        fault: "overflow",
        message:
          "The context does not fit the model: prompt is too long. The context could not be made smaller: nothing more can be removed from it",
      },
    });
    expect(JSON.stringify(after.outbox)).not.toContain("Compaction");
  });

  test("ends the loop immediately if the definition disables compaction [OVF-05.3, X-09.3]", async () => {
    const run = await play({}).until("call-model").fail("overflow", "prompt is too long").settle();
    expect(run.lines.at(-1)).toMatch(/^error: .*prompt is too long/);
    expect(run.state.last?.outcome).toEqual({
      type: "failed",
      fault: "overflow",
      message:
        "The context does not fit the model: prompt is too long. The definition disables compaction (`context: null`).",
    });
    expect(kinds(run)).toEqual([]);
  });

  test("is compacted and sent again in every turn that overflows", async () => {
    const run = await grown(calls("edit"), says("done"));
    await run.fail("overflow").until("call-tools").until("call-model");
    await run.fail("overflow").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });
});

describe("an interrupted compaction", () => {
  test("is repeated after a lost worker, and nothing is stored twice", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact");
    await run.lose("stored").lose("claimed").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("fails the loop with worker-lost after three lost workers", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact");
    await run.lose().lose().lose().settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
  });

  test("fails the loop with the reason if it is cancelled without a stop", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact");
    const asked = run.asked.length;
    await run.setBack({ type: "cancelled" }).settle();
    expect(run.asked).toHaveLength(asked);
    expect(run.state.last?.outcome).toEqual({
      type: "failed",
      fault: "compaction",
      message: "The context could not be made smaller: it was cancelled",
    });
  });

  test("ends the run as stopped if a stop arrives", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact").stop("enough");
    await run.setBack({ type: "cancelled" }).settle();
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });
});
