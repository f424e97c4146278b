import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import { countContextTokens, findCompactionReason } from "../../src/core/machine/compact-view.ts";
import { next } from "../../src/core/machine/next.ts";
import type { CompactCommand } from "../../src/core/machine/state/command.ts";
import { calls, type Play, play, type Reply, says, usageOf } from "./play.ts";

const TURNS: readonly Reply[] = [calls("edit"), calls("edit"), calls("edit"), calls("edit"), says("done")];

const kinds = (run: ReturnType<typeof play>) =>
  run.commands.map(({ type }) => type).filter((type) => type === "call-model" || type === "compact");

describe("a view that has grown [CTX-05, CTX-09, CMP-13, EVT-09, EVT-13]", () => {
  test("is made smaller right before the answer, and the model is asked with the smaller one", () => {
    const run = play({ replies: TURNS, compactAbove: 50 }).settle();
    expect(kinds(run)).toContain("compact");
    const at = run.commands.findLastIndex(({ type }) => type === "compact");
    const after = run.commands[at + 1];
    expect(after?.type).toBe("call-model");
    const asked = run.asked.find((command) => command.number === (after as { number: number }).number);
    expect(asked?.view.ranges[0]).toMatchObject({ from: 0, instead: { section: 0 } });
  });

  test("says so in events, between TurnStart and the answer, and only when something has changed (X-11)", () => {
    const lines = play({ replies: TURNS, compactAbove: 50 }).settle().eventLines();
    const started = lines.findIndex((line) => line.startsWith("CompactionStarted"));
    expect(lines[started + 1]).toContain("CompactionEnded");
    expect(lines[started - 1]).toMatch(/TurnStart/);
    const small = play({ replies: [says("done")], compactAbove: 1 }).settle();
    expect(kinds(small)).toEqual(["compact", "call-model"]);
    expect(small.eventLines().filter((line) => line.startsWith("Compaction"))).toEqual([]);
  });

  test("counts as the vendor counts, and by estimate what came later (CTX-05)", () => {
    const replies = [{ ...calls("edit"), usage: usageOf(900, 50) }, says("done")];
    const run = play({ replies }).until("call-tools");
    expect(countContextTokens(run.state)).toBe(950);
    run.step();
    expect(countContextTokens(run.state)).toBeGreaterThan(950);
    expect(kinds(play({ replies, compactAbove: 940 }).settle())).toEqual([
      "call-model",
      "compact",
      "call-model",
    ]);
  });

  test("is looked for before each call of the model, and never where the definition has switched it off [LOOP-14]", () => {
    const replies = [calls("edit"), calls("edit"), says("done")];
    const each = ["compact", "call-model"];
    expect(kinds(play({ replies, compactAbove: 1 }).settle())).toEqual([...each, ...each, ...each]);
    expect(kinds(play({ replies }).settle())).toEqual(["call-model", "call-model", "call-model"]);
  });

  test("is made smaller above its bound, and not at it [CTX-09]", () => {
    const { state } = play({ compactAbove: 1_000_000 }).until("call-model");
    const due = (compactAbove: number) =>
      findCompactionReason({
        ...state,
        pinned: { ...state.pinned, context: { compactAbove } } as typeof state.pinned,
      });
    expect(due(countContextTokens(state))).toBeUndefined();
    expect(due(countContextTokens(state) - 1)).toEqual({ type: "grown" });
  });

  test("is not pruned afterwards: what a model may take out begins behind the compaction [PRUN-09]", () => {
    const run = play({ replies: TURNS, compactAbove: 50 }).until("compact");
    const position = run.state.length;
    run.step();
    while (run.state.view.liveFrom === undefined) run.until("compact").step();
    expect(run.state.view.liveFrom).toBe(run.state.length);
    expect(run.state.length).toBeGreaterThan(position);
  });

  test("never without a bound: the definition has switched it off", () => {
    const replies = [{ ...calls("edit"), usage: usageOf(1_000_000, 0) }, says("done")];
    expect(kinds(play({ replies }).settle())).toEqual(["call-model", "call-model"]);
  });

  test("that could not be made smaller is sent as it is", () => {
    const run = play({ replies: [says("done")], compactAbove: 1 }).until("compact");
    run.fail("other").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });
});

describe("what a compaction has cost [LIM-02]", () => {
  /** The first that changes something, with what its model has cost. */
  const compactedFor = (run: Play, costUsd?: number): Play => {
    run.until("compact");
    const told = run.perform(run.command as CompactCommand);
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

  test("is the loop's, beside its answers", () => {
    const run = compactedFor(play({ replies, compactAbove: 900 }), 0.25);
    expect(run.state.loop).toMatchObject({
      costUsd: 0.75,
      usage: { input: 1070, output: 35, totalTokens: 1105 },
    });
  });

  test("is its tokens alone where nobody knows the price", () => {
    const run = compactedFor(play({ replies, compactAbove: 900 }));
    expect(run.state.loop).toMatchObject({ costUsd: 0.5, usage: { input: 1070, output: 35 } });
  });

  test("can end the loop by its limits", () => {
    const run = compactedFor(
      play({ replies, compactAbove: 900, limits: { maxCostUsd: 1.2 } }),
      0.25,
    ).settle();
    expect(run.asked).toHaveLength(2);
    expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
  });
});

describe("a person asks for a compaction [CMP-13, CMP-14, CTX-18]", () => {
  test("it comes before the next answer, once, with the words that say what matters", () => {
    const run = play({ replies: TURNS, compactAbove: 1_000_000 }).until("call-tools");
    run.compact("the prices").settle();
    const asked = run.commands.filter((command) => command.type === "compact");
    expect(asked).toMatchObject([{ why: { type: "asked", focus: "the prices" } }]);
  });

  test("where the definition has switched compaction off, nothing comes of it", () => {
    const run = play({ replies: TURNS, mode: "interactive" }).until("call-tools").compact().settle();
    run.compact().settle();
    expect(run.commands.filter(({ type }) => type === "compact")).toEqual([]);
    expect(run.transcript.loops).toHaveLength(1);
  });
});

describe("a compaction of a session at rest [CMP-13, LOOP-06]", () => {
  const rest = () => play({ replies: TURNS, mode: "interactive", compactAbove: 1_000_000 }).settle();
  const eventsOfLast = (run: ReturnType<typeof play>) =>
    run.transcript.eventsOf(run.transcript.loops.at(-1)?.loopId ?? "").map(({ body }) => body);

  test("is a loop of its own that asks no model, has no turn, and leaves the run at rest", () => {
    const run = rest();
    const asked = run.asked.length;
    run.compact("the prices").settle();
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
      why: { type: "asked", focus: "the prices" },
    });
    run.prompt("next").until("call-model");
    expect(run.state.view.spans[0]).toMatchObject({ from: 0, instead: { section: 0 } });
  });

  test("that is stopped in the middle ends as stopped, once", () => {
    const run = rest().compact().until("compact").stop("enough");
    run.setBack({ type: "cancelled" }).settle();
    expect(eventsOfLast(run).map(({ type }) => type)).toEqual(["AgentStart", "AgentEnd"]);
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });

  test("that fails says so, and the view stays", () => {
    const run = rest();
    const { spans } = run.state.view;
    run.compact().until("compact").fail("api", "no").settle();
    expect(run.state.last?.outcome).toEqual({ type: "failed", fault: "api", message: "no" });
    expect(run.state.view.spans).toEqual(spans);
  });
});

describe("a context that the vendor refuses [OVF-04, OVF-05, X-09]", () => {
  test("is made smaller by force and sent once more", () => {
    const run = play({ replies: [says("done")], compactAbove: 1_000_000 }).until("call-model");
    run.fail("overflow", "prompt is too long").settle();
    expect(kinds(run)).toEqual(["compact", "call-model"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("also when the vendor says it in its answer, which the next request does not repeat", () => {
    const refusal = says("prompt is too long", { stopReason: "error", overflow: true });
    const run = play({ replies: [refusal, says("done")], compactAbove: 1_000_000 }).settle();
    expect(kinds(run)).toEqual(["call-model", "compact", "call-model"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("twice: the loop ends with an error that says what was tried", () => {
    const run = play({ compactAbove: 1_000_000 }).until("call-model");
    run.fail("overflow", "prompt is too long").until("call-model");
    run.fail("overflow", "prompt is too long").settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "overflow" });
    const { outcome } = run.state.last ?? {};
    expect(outcome?.type === "failed" && outcome.message).toMatch(/also after a compaction in turn 0/);
  });

  test("and that cannot be made smaller is not sent again: the loop ends, and claims no compaction", () => {
    const run = play({ compactAbove: 1_000_000 }).until("call-model");
    run.fail("overflow", "prompt is too long").until("compact");
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
          "The context does not fit the model: prompt is too long. The context could not be made smaller: nothing more can be left out of it",
      },
    });
    expect(JSON.stringify(after.outbox)).not.toContain("Compaction");
  });

  test("without context management it ends the loop at once", () => {
    const run = play({}).until("call-model").fail("overflow", "prompt is too long").settle();
    expect(run.state.last?.outcome).toEqual({
      type: "failed",
      fault: "overflow",
      message:
        "The context does not fit the model: prompt is too long. The definition switches compaction off (`context: null`).",
    });
    expect(kinds(run)).toEqual([]);
  });

  test("in each turn anew", () => {
    const run = play({ replies: [calls("edit"), says("done")], compactAbove: 1_000_000 }).until("call-model");
    run.fail("overflow").until("call-tools").until("call-model");
    run.fail("overflow").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });
});

describe("a compaction whose worker dies", () => {
  test("is done again, and nothing is written twice", () => {
    const run = play({ replies: TURNS, compactAbove: 50 }).until("compact");
    run.lose("stored").lose("claimed").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("three times ends the loop: nobody knows what stands where the answer would go", () => {
    const run = play({ replies: TURNS, compactAbove: 50 }).until("compact");
    run.lose().lose().lose().settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
  });

  test("was cancelled, and nobody has stopped the run: the loop ends and says so", () => {
    const run = play({ replies: TURNS, compactAbove: 50 }).until("compact");
    const asked = run.asked.length;
    run.setBack({ type: "cancelled" }).settle();
    expect(run.asked).toHaveLength(asked);
    expect(run.state.last?.outcome).toEqual({
      type: "failed",
      fault: "compaction",
      message: "The context could not be made smaller: it was cancelled",
    });
  });

  test("stop in the middle of it ends the run", () => {
    const run = play({ replies: TURNS, compactAbove: 50 }).until("compact").stop("enough");
    run.setBack({ type: "cancelled" }).settle();
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });
});
