import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { materialise } from "../../src/conversation/materialise.ts";
import { replayPruned } from "../../src/conversation/pruning/replay-prunes.ts";
import type { ToolFacts } from "../../src/core/machine/state/digest.ts";
import { addLabels, parseLabel } from "../../src/core/view/labels.ts";
import { sumViewTokens } from "../../src/core/view/view.ts";
import { toViewRanges } from "../../src/core/view/view-ranges.ts";
import type { AgentDefinition } from "../../src/schema/definition.ts";
import { must } from "../support/must.ts";
import { getRunCount, isThorough } from "../support/test-depth.ts";
import { type Action, act, anyActions, finish, settings } from "./actions.ts";
import { throughJson } from "./support/invariants.ts";
import { toPrunedState } from "./support/pruned-state.ts";
import { play } from "./support/run.ts";
import { type CallScript, calls, type Reply, type Setting, says, TOOLS } from "./support/script.ts";

// `Run` checks before every answer that the view has no orphan and all user messages, and that events replay to it.

const OF_VIEW: ToolFacts = { replay: "pure", quick: true, view: true };
const tools = { ...TOOLS, prun: OF_VIEW, prun_with_memo: OF_VIEW, revert_to_state: OF_VIEW };
const prun = (tokens: number): CallScript => ({ name: "prun", arguments: { tokens } });
const memo = (tokens: number, words: string): CallScript => ({
  name: "prun_with_memo",
  arguments: { tokens, memo: words },
});
const back = (step: string): CallScript => ({
  name: "revert_to_state",
  arguments: { category: "failure", step, summary: "a lesson" },
});

const script = fc.oneof(
  fc.integer({ min: 1, max: 400 }).map(prun),
  fc.integer({ min: 1, max: 400 }).map((tokens) => memo(tokens, "remember")),
  fc.integer({ min: 0, max: 25 }).map((position) => back(`n${position}`)),
  fc.constantFrom<CallScript>({ name: "bash" }, { name: "read" }, { name: "unknown" }),
);
const replies = fc.array(
  fc.oneof(
    { arbitrary: fc.array(script, { minLength: 1, maxLength: 3 }).map((all) => calls(...all)), weight: 5 },
    { arbitrary: fc.constant(says("words")), weight: 1 },
  ),
  { maxLength: 14 },
);
/** Without compactions and foreign runs, after which other spans can be pruned. */
const actions = anyActions.map((all) => all.filter(({ type }) => type !== "compact" && type !== "intrude"));

const RUNS = getRunCount(2000);

const LIMITS = { maxTurns: null, maxTotalTokens: null, maxCostUsd: null, maxDurationMs: null };

/** Plays a story to its end, and counts the prunes and reverts of its model. */
async function playStory(
  setting: Setting,
  given: Setting["replies"] = [],
  all: readonly Action[] = [],
): Promise<{ readonly pruned: number; readonly reverted: number }> {
  const run = play({
    ...setting,
    replies: given,
    tools,
    compactAbove: undefined,
    output: undefined,
    limits: LIMITS,
  });
  for (const action of all) await act(run, action);
  await finish(run);
  must(run.seen.largestState < 64 * 1024, `a state has ${run.seen.largestState} bytes`);
  const bodies = run.transcript.records.flatMap(({ loopId }) => run.transcript.listEvents(loopId));
  return {
    pruned: bodies.filter(({ body }) => body.type === "PrunApplied").length,
    reverted: bodies.filter(({ body }) => body.type === "RevertApplied" && body.applied).length,
  };
}

describe("whatever a model prunes and wherever it reverts to", () => {
  test(
    "no view has an orphan or lacks a user message, and events replay to it; prunes and reverts occur in enough of the stories [PRUN-01.1, PRUN-05, PRUN-07.2, PRUN-11.1, PHI-05.2, PHI-13i.2, PHI-13j.2]",
    async () => {
      let pruned = 0;
      let reverted = 0;
      const story = fc.asyncProperty(settings, replies, actions, async (setting, given, all) => {
        const counts = await playStory(setting, given, all);
        pruned += counts.pruned;
        reverted += counts.reverted;
      });
      await fc.assert(story, { numRuns: RUNS });
      // A few stories may have none.
      if (!isThorough) return;
      expect(pruned).toBeGreaterThan(RUNS / 10);
      expect(reverted).toBeGreaterThan(RUNS / 50);
    },
    120_000 + RUNS * 100,
  );
});

describe("pruning", () => {
  test("removes the tokens that it reports from the view, and discards the vendor's count [PRUN-02.2, PRUN-04.1-2, PHI-13i.3]", async () => {
    const run = play({ replies: [calls("bash"), calls("bash"), calls(prun(1)), says("done")], tools });
    await run.until("call-tools").step().until("call-tools").step().until("call-tools");
    const before = sumViewTokens(run.state.view);
    await run.step();
    const [event] = run.transcript
      .listEvents(run.transcript.records[0]?.loopId ?? "")
      .concat(run.state.outbox.events)
      .flatMap(({ body }) => (body.type === "PrunApplied" ? [body] : []));
    const result = run.state.view.spans.at(-1);
    expect(event).toMatchObject({ pruned: [{ from: 1, to: 3 }], messagesRemoved: 2 });
    expect(run.state.reportedSize).toBeUndefined();
    const own = run.transcript.listEntries("main")[6]?.tokens ?? 0;
    expect(sumViewTokens(run.state.view)).toBe(before + own - (event?.tokensRemoved ?? 0));
    expect(result?.to).toBe(7);
    await run.settle();
  });

  test("a hundred times leaves a few spans, and user messages in between stay [PRUN-01.1, LOOP-11.3]", async () => {
    const given = Array.from({ length: 100 }, () => calls("bash", prun(5000)));
    const run = play({ replies: [...given, says("done")], tools, strategy: { type: "sequential" } });
    for (let steps = 0; run.command.type !== "finish"; steps++) {
      if (steps % 9 === 0 && steps < 300) run.steer("words");
      await run.step();
    }
    expect(run.state.view.spans.length).toBeLessThan(8);
    expect(run.seen.largestState).toBeLessThan(32 * 1024);
  });

  test("skips what a compaction has left, and removes what follows it [PRUN-09.1-2]", async () => {
    const given = [...Array.from({ length: 6 }, () => calls("bash")), calls(prun(100_000)), says("done")];
    const run = play({ replies: given, tools, light: true, compactAbove: 1_000_000 });
    await run.until("call-tools").step().step().step().step().step();
    run.compact();
    await run.settle();
    const { prunableFrom = 0, spans } = run.state.view;
    expect(prunableFrom).toBeGreaterThan(0);
    const words = spans.filter((span) => span.isPruned === true);
    expect(words.length).toBeGreaterThan(0);
    expect(words.every(({ from }) => from >= prunableFrom)).toBe(true);
  });

  test("leaves the record complete [PRUN-06.1]", async () => {
    const run = await play({ replies: [calls("bash"), calls(prun(9999)), says("done")], tools }).settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: calling +bash",
      "bash: bash ok",
      "model: calling +prun",
      expect.stringMatching(/^prun: Reclaimed \d+ tokens: 2 messages leave your context/),
      "model: done",
    ]);
  });
});

describe("reverting", () => {
  const lesson = (count: number) => Array.from({ length: count }, () => calls(back("n0")));
  const shownTags = (run: ReturnType<typeof play>) =>
    materialise(toViewRanges(run.state.view), run.transcript.listEntries(run.state.branch), {
      readMessage: (branch, position) => run.transcript.getMessage(branch, position),
    }).filter(({ content }) => content[0]?.type === "text" && content[0].text.startsWith("[Back at")).length;

  test("leaves lessons that fade after five turns, but the newest three stay [PHI-02.2]", async () => {
    const run = play({
      replies: [
        ...lesson(8),
        calls("bash"),
        calls("bash"),
        calls("bash"),
        calls("bash"),
        calls("bash"),
        calls("bash"),
        says("done"),
      ],
      tools,
    });
    await run.settle();
    expect(shownTags(run)).toBe(3);
    const few = await play({ replies: [...lesson(8), says("done")], tools }).settle();
    expect(shownTags(few)).toBe(5);
  });

  test.each([
    ["failure", "lesson", 3],
    ["tangent", "finding", 3],
    ["completion", "outcome", 8],
    ["step-summary", "checkpoint", 8],
  ])(
    "of kind %s leaves a %s, of which %i of eight are left after six more turns [PHI-02.1-3]",
    async (category, kind, left) => {
      const tag = (): Reply =>
        calls({ name: "revert_to_state", arguments: { category, step: "n0", summary: "noted" } });
      const eight = Array.from({ length: 8 }, tag);
      const six = Array.from({ length: 6 }, () => calls("bash"));
      const run = await play({ replies: [...eight, ...six, says("done")], tools }).settle();
      const newest = run.lines.find((line) => line.includes("[Back at"));
      expect(newest).toBe(`machine: [Back at n0 · ${kind}] noted`);
      expect(shownTags(run)).toBe(left);
    },
  );

  test("leaves tags that are shown for as long as the definition says [PHI-02.4]", async () => {
    const replies = [...lesson(8), says("done")];
    const shown = async (revert: AgentDefinition["revert"]) => {
      const run = play({ replies, tools, definitions: { other: { revert } } });
      return shownTags(await run.update("other").settle());
    };
    expect(await shown({ shownForTurns: 0, newestOfKind: 1 })).toBe(1);
    expect(await shown({ shownForTurns: 4, newestOfKind: 0 })).toBe(4);
  });

  test("to one position twice keeps both lessons, and a memo written after that position keeps its text [PHI-01.3]", async () => {
    const run = await play({
      replies: [
        calls("bash"),
        calls("bash"),
        calls(memo(1, "first")),
        calls(back("n4")),
        calls(back("n4")),
        says("done"),
      ],
      tools,
    }).settle();
    expect(shownTags(run)).toBe(2);
    const [, words] = materialise(
      toViewRanges(run.state.view),
      run.transcript.listEntries(run.state.branch),
      {
        readMessage: (branch, position) => run.transcript.getMessage(branch, position),
      },
    );
    expect(words).toMatchObject({
      role: "user",
      content: [{ text: "[Memo on what was pruned here] first" }],
    });
    expect(run.seen.left).toHaveLength(2);
    const events = run.transcript.listEvents(run.transcript.records[0]?.loopId ?? "").map(({ body }) => body);
    const { memos } = replayPruned(events, run.seen.left);
    expect(memos).toEqual(toPrunedState(run.state.view.spans).memos);
    expect(memos[0]?.branch).toBe("main");
  });

  test("to an answer with calls continues after their results [PHI-05.2, PHI-13j.2]", async () => {
    const run = await play({
      replies: [calls("bash", "read"), calls(back("n1")), says("done")],
      tools,
    }).settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: calling +bash +read",
      "bash: bash ok",
      "read: read ok",
      "machine: [Back at n3 · lesson] a lesson",
      "model: done",
    ]);
  });

  test("writes pending results to the branch that is left [PHI-01.1, PHI-01.3]", async () => {
    const run = await play({ replies: [calls(back("n0"), "unknown"), says("done")], tools }).settle();
    const left = run.transcript.listEntries("main").map(({ message }) => message.role);
    expect(left).toEqual(["user", "assistant", "toolResult", "toolResult"]);
  });

  test("is not blocked by a failed call whose result is pending [PHI-01.2]", async () => {
    const strategy = { type: "batched", size: 2 } as const;
    const run = play({ replies: [calls(back("n0"), back("n0"), prun(1)), says("done")], tools, strategy });
    run.steer("Steering words");
    await run.until("call-tools");
    await act(run, { type: "failed", pick: 0, reached: "nothing" });
    await finish(run);
    expect(run.transcript.records).toHaveLength(1);
  });

  test("to a position before a steering message is rejected [PHI-03.2]", async () => {
    const run = play({ replies: [calls("bash"), calls(back("n0")), says("done")], tools });
    await run.until("call-tools").steer("look here").settle();
    const events = run.transcript.listEvents(run.transcript.records[0]?.loopId ?? "").map(({ body }) => body);
    expect(events.find(({ type }) => type === "RevertApplied")).toMatchObject({
      applied: false,
      reason: expect.stringContaining("the user has sent a message since (n3)"),
    });
    expect(run.seen.left).toEqual([]);
  });

  test("accepts label names with and without the n [PHI-01.2]", () => {
    expect([
      parseLabel("n12"),
      parseLabel("12"),
      parseLabel(" N3 "),
      parseLabel("last"),
      parseLabel("n-1"),
    ]).toEqual([12, 12, 3, undefined, undefined]);
  });

  test("uses labels that never change once they are sent, and without labels the messages are unchanged [PHI-04.2, PHI-05.1]", async () => {
    const run = play({
      replies: [calls("bash"), calls("read", "bash"), says("a"), calls("bash"), says("done")],
    });
    await run.followUp("more").settle();
    const entries = run.transcript.listEntries("main");
    const sent = run.asked.map(({ view, position }) =>
      materialise(view, entries.slice(0, position), { labels: true }).map((message) =>
        JSON.stringify(message),
      ),
    );
    sent.slice(1).forEach((later, index) => {
      const earlier = sent[index] ?? [];
      expect(later.slice(0, earlier.length)).toEqual(earlier);
    });
    const last = run.asked.at(-1);
    if (last === undefined) throw new Error("nothing was asked");
    const plain = materialise(last.view, entries.slice(0, last.position));
    expect(plain).toEqual(entries.slice(0, last.position).map(({ message }) => message));
    expect(throughJson(addLabels([], new Map()))).toEqual([]);
  });
});
