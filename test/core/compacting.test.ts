import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import { countContextTokens, findCompactionReason } from "../../src/core/machine/compact-view.ts";
import { next } from "../../src/core/machine/next.ts";
import type { CompactCommand } from "../../src/core/machine/state/command.ts";
import { play, type Run } from "./support/run.ts";
import { calls, large, type Reply, says, usageOf } from "./support/script.ts";

const edit = large(calls("edit"));
const TURNS: readonly Reply[] = [edit, edit, edit, edit, says("done")];

const kinds = (run: ReturnType<typeof play>) =>
  run.commands.map(({ type }) => type).filter((type) => type === "call-model" || type === "compact");

describe("a view that has grown [CTX-05, CTX-09, CMP-13, EVT-09, EVT-13]", () => {
  test("is made smaller right before the answer, and the model is asked with the smaller one", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).settle();
    expect(kinds(run)).toContain("compact");
    const at = run.commands.findLastIndex(({ type }) => type === "compact");
    const after = run.commands[at + 1];
    expect(after?.type).toBe("call-model");
    const asked = run.asked.find((command) => command.number === (after as { number: number }).number);
    expect(asked?.view.ranges[0]).toMatchObject({ from: 0, replacement: { section: 0 } });
  });

  test("says so in events, between TurnStart and the answer, and only when something has changed (X-11)", async () => {
    const lines = (await play({ replies: TURNS, compactAbove: 300 }).settle()).eventLines();
    const started = lines.findIndex((line) => line.startsWith("CompactionStarted"));
    expect(lines[started + 1]).toContain("CompactionEnded");
    expect(lines[started - 1]).toMatch(/TurnStart/);
    const small = await play({ replies: [says("done")], compactAbove: 2 }).settle();
    expect(kinds(small)).toEqual(["compact", "call-model"]);
    expect(small.eventLines().filter((line) => line.startsWith("Compaction"))).toEqual([]);
  });

  test("counts as the vendor counts, and by estimate what came later (CTX-05)", async () => {
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

  test("is looked for before each call of the model, and never where the definition has switched it off [LOOP-14]", async () => {
    const replies = [calls("edit"), calls("edit"), says("done")];
    const each = ["compact", "call-model"];
    expect(kinds(await play({ replies, compactAbove: 2 }).settle())).toEqual([...each, ...each, ...each]);
    expect(kinds(await play({ replies }).settle())).toEqual(["call-model", "call-model", "call-model"]);
  });

  test("is made smaller above its bound, and not at it [CTX-09]", async () => {
    const { state } = await play({ compactAbove: 1_000_000 }).until("call-model");
    const due = (compactAbove: number) =>
      findCompactionReason({
        ...state,
        pinned: { ...state.pinned, context: { compactAbove } } as typeof state.pinned,
      });
    expect(due(countContextTokens(state))).toBeUndefined();
    expect(due(countContextTokens(state) - 1)).toEqual({ type: "size" });
  });

  test("is not pruned afterwards: what a model may take out begins behind the compaction [PRUN-09]", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact");
    const position = run.state.length;
    await run.step();
    while (run.state.view.prunableFrom === undefined) await run.until("compact").step();
    expect(run.state.view.prunableFrom).toBe(run.state.length);
    expect(run.state.length).toBeGreaterThan(position);
  });

  test("never without a bound: the definition has switched it off", async () => {
    const replies = [{ ...calls("edit"), usage: usageOf(1_000_000, 0) }, says("done")];
    expect(kinds(await play({ replies }).settle())).toEqual(["call-model", "call-model"]);
  });

  test("that could not be made smaller is sent as it is", async () => {
    const run = await play({ replies: [says("done")], compactAbove: 2 }).until("compact");
    await run.fail("other").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });
});

describe("what a compaction has cost [LIM-02]", () => {
  /** The first that changes something, with what its model has cost. */
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

  test("is the loop's, beside its answers", async () => {
    const run = await compactedFor(play({ replies, compactAbove: 900 }), 0.25);
    expect(run.state.loop).toMatchObject({
      costUsd: 0.75,
      usage: { input: 1070, output: 35, totalTokens: 1105 },
    });
  });

  test("is its tokens alone where nobody knows the price", async () => {
    const run = await compactedFor(play({ replies, compactAbove: 900 }));
    expect(run.state.loop).toMatchObject({ costUsd: 0.5, usage: { input: 1070, output: 35 } });
  });

  test("can end the loop by its limits", async () => {
    const run = await (
      await compactedFor(play({ replies, compactAbove: 900, limits: { maxCostUsd: 1.2 } }), 0.25)
    ).settle();
    expect(run.asked).toHaveLength(2);
    expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
  });
});

describe("a person asks for a compaction [CMP-13, CMP-14, CTX-18]", () => {
  test("it comes before the next answer, once, with the words that say what matters", async () => {
    const run = await play({ replies: TURNS, compactAbove: 1_000_000 }).until("call-tools");
    await run.compact("the prices").settle();
    const asked = run.commands.filter((command) => command.type === "compact");
    expect(asked).toMatchObject([{ reason: { type: "request", focus: "the prices" } }]);
  });

  test("where the definition has switched compaction off, nothing comes of it", async () => {
    const run = await play({ replies: TURNS, mode: "interactive" }).until("call-tools").compact().settle();
    await run.compact().settle();
    expect(run.commands.filter(({ type }) => type === "compact")).toEqual([]);
    expect(run.transcript.records).toHaveLength(1);
  });
});

describe("a compaction of a session at rest [CMP-13, LOOP-06]", () => {
  const rest = () => play({ replies: TURNS, mode: "interactive", compactAbove: 1_000_000 }).settle();
  const eventsOfLast = (run: ReturnType<typeof play>) =>
    run.transcript.listEvents(run.transcript.records.at(-1)?.loopId ?? "").map(({ body }) => body);

  test("is a loop of its own that asks no model, has no turn, and leaves the run at rest", async () => {
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

  test("that is stopped in the middle ends as stopped, once", async () => {
    const run = await rest().compact().until("compact").stop("enough");
    await run.setBack({ type: "cancelled" }).settle();
    expect(eventsOfLast(run).map(({ type }) => type)).toEqual(["AgentStart", "AgentEnd"]);
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });

  test("that fails says so, and the view stays", async () => {
    const run = await rest();
    const { spans } = run.state.view;
    await run.compact().until("compact").fail("api", "no").settle();
    expect(run.state.last?.outcome).toEqual({ type: "failed", fault: "api", message: "no" });
    expect(run.state.view.spans).toEqual(spans);
  });
});

describe("a context that the vendor refuses [OVF-04, OVF-05, X-09]", () => {
  const three = [calls("edit"), calls("edit"), calls("edit")];
  /** Three turns are over, of which the first can be summed up. */
  const grown = async (...replies: readonly Reply[]) => {
    const run = play({ replies: [...three, ...replies], compactAbove: 1_000_000 });
    while (run.asked.length < 3) await run.step();
    return await run.until("call-model");
  };
  const kindsBehind = (run: Run) => kinds(run).slice(3);

  test("is made smaller by force and sent once more", async () => {
    const run = await grown();
    await run.fail("overflow", "prompt is too long").settle();
    expect(kindsBehind(run)).toEqual(["compact", "call-model"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("also when the vendor says it in its answer, which the next request does not repeat", async () => {
    const run = await grown(says("", { stopReason: "error", error: "prompt is too long" }));
    await run.settle();
    expect(kindsBehind(run)).toEqual(["call-model", "compact", "call-model"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("twice: the loop ends with an error that says what was tried", async () => {
    const run = await grown();
    await run.fail("overflow", "prompt is too long").until("call-model");
    await run.fail("overflow", "prompt is too long").settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "overflow" });
    const { outcome } = run.state.last ?? {};
    expect(outcome?.type === "failed" && outcome.message).toMatch(/even after a compaction in turn 3/);
  });

  test("and that cannot be made smaller is not sent again: the loop ends, and claims no compaction", async () => {
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

  test("without context management it ends the loop at once", async () => {
    const run = await play({}).until("call-model").fail("overflow", "prompt is too long").settle();
    expect(run.state.last?.outcome).toEqual({
      type: "failed",
      fault: "overflow",
      message:
        "The context does not fit the model: prompt is too long. The definition disables compaction (`context: null`).",
    });
    expect(kinds(run)).toEqual([]);
  });

  test("in each turn anew", async () => {
    const run = await grown(calls("edit"), says("done"));
    await run.fail("overflow").until("call-tools").until("call-model");
    await run.fail("overflow").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });
});

describe("a compaction whose worker dies", () => {
  test("is done again, and nothing is written twice", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact");
    await run.lose("stored").lose("claimed").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("three times ends the loop: nobody knows what stands where the answer would go", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact");
    await run.lose().lose().lose().settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
  });

  test("was cancelled, and nobody has stopped the run: the loop ends and says so", async () => {
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

  test("stop in the middle of it ends the run", async () => {
    const run = await play({ replies: TURNS, compactAbove: 300 }).until("compact").stop("enough");
    await run.setBack({ type: "cancelled" }).settle();
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });
});
