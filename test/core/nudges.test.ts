import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TOOL_INTENT_NUDGE } from "../../src/core/machine/tool-intent.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { NudgeSettings } from "../../src/schema/recovery.ts";
import { getRunCount } from "../support/test-depth.ts";
import { anyActions, playAll, settings } from "./actions.ts";
import { play, type Run } from "./support/run.ts";
import { calls, type Reply, says } from "./support/script.ts";

const RUNS = Math.min(500, getRunCount(500));
const NUDGE = `machine: ${TOOL_INTENT_NUDGE}`;
const MAX = 2;

const announcing = (what = "soon"): Reply => says(`Let me check ${what}`);
const forever = Array.from({ length: 60 }, () => announcing());

const nudgesOf = (run: Run) => run.lines.filter((line) => line === NUDGE).length;

describe("a text that announces a call", () => {
  test("is nudged twice, and the third is the answer [IRON-10.1, IRON-10.3, IRON-11.3]", async () => {
    const run = await play({
      nudges: MAX,
      replies: [announcing("a"), announcing("b"), announcing("c")],
    }).settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: Let me check a",
      NUDGE,
      "model: Let me check b",
      NUDGE,
      "model: Let me check c",
    ]);
    expect(run.state.last?.outcome).toEqual({ type: "answered", stopReason: "stop" });
  });

  test("is followed by a turn that begins with the nudge [IRON-10.3]", async () => {
    const run = await play({ nudges: MAX, replies: [announcing(), says("done")] }).settle();
    expect(run.eventLines()).toEqual([
      "AgentStart initial",
      "TurnStart 0 user",
      "MessageStart 0",
      "MessageEnd 0",
      "MessageStart 1",
      "MessageEnd 1",
      "TurnEnd 0 at 1 with 0",
      "TurnStart 1 continuation",
      "MessageStart 2",
      "MessageEnd 2",
      "MessageStart 3",
      "MessageEnd 3",
      "TurnEnd 1 at 3 with 0",
      "AgentEnd answered 0..4",
    ]);
  });

  test("is shown to the model together with the nudge [IRON-10.3]", async () => {
    const run = await play({ nudges: MAX, replies: [announcing()] })
      .until("call-model")
      .step();
    expect(run.command).toMatchObject({ type: "call-model", view: { ranges: [{ from: 0, to: 3 }] } });
  });

  test("is an ordinary answer when nudges are disabled or used up [IRON-10.1]", async () => {
    expect(nudgesOf(await play({ replies: forever }).settle())).toBe(0);
    expect(nudgesOf(await play({ nudges: 0, replies: forever }).settle())).toBe(0);
    expect(nudgesOf(await play({ nudges: 1, replies: forever }).settle())).toBe(1);
  });
});

describe("the count of nudges", () => {
  test("resets after tool calls [IRON-11.1]", async () => {
    const replies = [
      announcing(),
      announcing(),
      calls("bash"),
      announcing(),
      announcing(),
      announcing("end"),
    ];
    const run = await play({ nudges: MAX, replies }).settle();
    expect(nudgesOf(run)).toBe(4);
    expect(run.lines.at(-1)).toBe("model: Let me check end");
  });

  test("resets after a text that announces nothing [IRON-11.2]", async () => {
    const replies = [announcing(), announcing(), says("here"), ...forever];
    const run = await play({ nudges: MAX, replies }).until("call-model").step().step();
    await run.followUp("more").settle();
    expect(run.lines.slice(5, 9)).toEqual([
      "model: here",
      "follow-up: more",
      "model: Let me check soon",
      NUDGE,
    ]);
    expect(nudgesOf(run)).toBe(4);
  });

  test("is not reset by a text beyond the limit [IRON-11.3]", async () => {
    const run = await play({ nudges: MAX, replies: forever }).until("call-model").step().step();
    await run.followUp("more").settle();
    expect(run.lines.slice(5)).toEqual([
      "model: Let me check soon",
      "follow-up: more",
      "model: Let me check soon",
    ]);
  });

  test("is separate for each loop [IRON-11.4]", async () => {
    const run = await play({ mode: "interactive", nudges: MAX, replies: forever }).settle();
    await run.prompt("more").settle();
    expect(nudgesOf(run)).toBe(2 * MAX);
  });

  test("survives continue-as-new, as does a pending nudge [IRON-11.4, RIG-04.2]", async () => {
    const run = await play({ nudges: MAX, replies: forever }).until("call-model");
    await run.rotationDue().step().until("rotate").continueAsNew().settle();
    expect(run.lines).toHaveLength(6);
    expect(nudgesOf(run)).toBe(MAX);
  });
});

describe("what takes precedence over a nudge", () => {
  test("steering and follow-ups: a user's message replaces the nudge and is not counted [IRON-10.5]", async () => {
    const run = await play({ nudges: MAX, replies: forever })
      .until("call-model")
      .steer("s")
      .followUp("f")
      .settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: Let me check soon",
      "steering: s",
      "model: Let me check soon",
      "follow-up: f",
      "model: Let me check soon",
      NUDGE,
      "model: Let me check soon",
      NUDGE,
      "model: Let me check soon",
    ]);
  });

  test("a message that arrives during continue-as-new [IRON-10.5]", async () => {
    const run = await play({ nudges: MAX, replies: [announcing()] }).until("call-model");
    await run.rotationDue().step().until("rotate").steer("s").continueAsNew().settle();
    expect(run.lines).toEqual(["prompt: hi", "model: Let me check soon", "steering: s", "model: done"]);
  });

  test("a stop [IRON-10.5]", async () => {
    const run = await play({ nudges: MAX, replies: forever }).until("call-model").stop().settle();
    expect(run.lines).toEqual(["prompt: hi", "model: Let me check soon"]);
    expect(run.state.last?.outcome.type).toBe("stopped");
  });

  test("limits, which count nudged turns [LIM-02.1, IRON-10.5]", async () => {
    const run = await play({ nudges: MAX, limits: { maxTurns: 2 }, replies: forever }).settle();
    expect(run.asked).toHaveLength(2);
    expect(nudgesOf(run)).toBe(1);
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max turns reached (2/2)]");
  });

  test("a failed answer [IRON-10.5]", async () => {
    const failed = says("Let me check soon", { stopReason: "error" });
    const run = await play({ nudges: MAX, replies: [failed] }).settle();
    expect(run.lines).toHaveLength(2);
    expect(run.state.last?.outcome.type).toBe("failed");
  });
});

test("with any announcements and events, every invariant holds, and nudges in a row never exceed the limit [IRON-11.3, I1..I5]", async () => {
  let given = 0;
  await fc.assert(
    fc.asyncProperty(
      settings,
      anyActions,
      fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      fc.integer({ min: 0, max: 3 }),
      async (setting, actions, announced, nudges) => {
        const replies = [says("first"), ...(setting.replies ?? []), says("last")].map((reply, index) =>
          reply.calls === undefined && announced[index] === true ? { ...reply, ...announcing() } : reply,
        );
        const run = await playAll({ ...setting, replies, nudges }, actions);
        expect(run.command.type).toBe("finish");
        for (const { loopId } of run.transcript.records) {
          expect(longestRow(linesOf(run, loopId))).toBeLessThanOrEqual(nudges);
        }
        given += nudgesOf(run);
      },
    ),
    { numRuns: RUNS },
  );
  expect(given).toBeGreaterThan(RUNS / 20);
}, 120_000);

function linesOf(run: Run, loopId: string): readonly string[] {
  const end = run.transcript.listEvents(loopId).at(-1)?.body;
  if (end?.type !== "AgentEnd") throw new Error(`${loopId} has not ended`);
  return run.lines.slice(end.from, end.to);
}

/** The most nudges in a row, with neither a call nor an ordinary text between them. */
function longestRow(lines: readonly string[]): number {
  let longest = 0;
  let row = 0;
  for (const line of lines) {
    if (line === NUDGE) longest = Math.max(longest, ++row);
    else if (line.startsWith("model: ") && line !== "model: Let me check soon") row = 0;
  }
  return longest;
}

describe("the definition", () => {
  const model = { id: "m", api: "anthropic_messages", provider: "anthropic" };

  test("allows two nudges by default [IRON-02.2]", () => {
    const { nudges } = AgentDefinition.parse({
      model: { ...model, baseUrl: "http://127.0.0.1:1", contextWindow: 200_000 },
    });
    expect(nudges).toEqual({ enabled: true, max: 2 });
  });

  test("rejects unknown fields and invalid values, and names the field", () => {
    expect(() => NudgeSettings.parse({ maxNudges: 2 })).toThrow(/maxNudges/);
    expect(() => NudgeSettings.parse({ max: -1 })).toThrow(/max/);
  });
});
