import { describe, expect, test } from "vitest";
import type { OutputVerdict } from "../../src/core/machine/state/digest.ts";
import { ACCEPTED_TEXT, formatNotAlone } from "../../src/core/machine/structured-output.ts";
import { type CallScript, calls, type Play, play, type Reply, says } from "./play.ts";

const OK: OutputVerdict = { ok: true };
const unfit = (problems = "count: found nothing, expected a number"): OutputVerdict => ({
  ok: false,
  problems,
});
const FINAL: CallScript = { name: "final_answer", final: true };
const final = (output: OutputVerdict, ...more: CallScript[]): Reply => ({ ...calls(FINAL, ...more), output });
const outcomeOf = (run: Play) => run.state.last?.outcome;
const repairs = (run: Play) => run.asked.map(({ repair }) => repair === true);

describe("a text that is the output", () => {
  test("ends the loop when it fits, and its JSON is asked for [SO-01]", () => {
    const run = play({ replies: [says("{}", { output: OK })] }).settle();
    expect(run.lines).toEqual(["prompt: hi", "model: {}"]);
    expect(outcomeOf(run)).toEqual({ type: "answered", stopReason: "stop" });
    expect(run.commands.at(-1)).toMatchObject({ type: "close-loop", answer: 1, definitionHash: "hash" });
  });

  test("that does not fit is told once what is wrong, in a turn of its own [SO-01]", () => {
    const run = play({ replies: [says("a", { output: unfit() }), says("{}", { output: OK })] }).settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: a",
      "machine: Your answer was not accepted: count: found nothing, expected a number\nAnswer once more, with the whole output.",
      "model: {}",
    ]);
    expect(repairs(run)).toEqual([false, true]);
    expect(run.state.loop).toBeUndefined();
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

  test("fails the loop the second time, with what was found and expected [SO-01]", () => {
    const replies = [says("a", { output: unfit() }), says("b", { output: unfit("b: found the text") })];
    const run = play({ replies }).settle();
    expect(run.asked).toHaveLength(2);
    expect(outcomeOf(run)).toEqual({
      type: "failed",
      fault: "schema-mismatch",
      message: "The answer is not the output that was asked for: b: found the text",
    });
    expect(run.eventLines().at(-1)).toBe("AgentEnd failed 0..4");
    expect(run.commands.at(-1)).not.toHaveProperty("definitionHash");
  });

  test("that a vendor has filtered is not asked for again [SO-01]", () => {
    const run = play({ replies: [says("", { output: unfit(), stopReason: "guardRail" })] }).settle();
    expect(run.asked).toHaveLength(1);
    expect(outcomeOf(run)).toMatchObject({ type: "failed", fault: "schema-mismatch" });
  });

  test("may come behind calls of the repair round, which is still the one [SO-01]", () => {
    const replies = [says("a", { output: unfit() }), calls("bash"), says("b", { output: unfit() })];
    const run = play({ replies }).settle();
    expect(run.asked).toHaveLength(3);
    expect(outcomeOf(run)).toMatchObject({ fault: "schema-mismatch" });
  });

  test("of each loop has a repair round of its own [SO-01]", () => {
    const bad = says("a", { output: unfit() });
    const good = says("{}", { output: OK });
    const run = play({ mode: "interactive", replies: [bad, good, bad, good] }).settle();
    run.prompt("more").settle();
    expect(run.asked).toHaveLength(4);
    expect(outcomeOf(run)).toMatchObject({ type: "answered" });
  });
});

describe("a call of the final tool", () => {
  test("is never run, has one result, and ends the loop [SO-01, TOOL-08]", () => {
    const run = play({ replies: [final(OK)] }).settle();
    expect(run.executed).toEqual([]);
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: calling +final_answer",
      `final_answer: ${ACCEPTED_TEXT}`,
    ]);
    expect(outcomeOf(run)).toEqual({ type: "answered", stopReason: "stop" });
    expect(run.commands.at(-1)).toMatchObject({ type: "close-loop", answer: 1, definitionHash: "hash" });
    expect(run.eventLines().slice(6)).toEqual([
      "ToolExecutionStart final_answer",
      "ToolExecutionEnd final_answer ok",
      "MessageStart 2",
      "MessageEnd 2",
      "TurnEnd 0 at 1 with 1",
      "AgentEnd answered 0..3",
    ]);
  });

  test("that does not fit is answered with an error, and made again in a repair round [SO-01]", () => {
    const run = play({ replies: [final(unfit("n: found a list")), final(OK)] }).settle();
    expect(run.lines.slice(2)).toEqual([
      "final_answer!: Not accepted: n: found a list",
      "model: calling +final_answer",
      `final_answer: ${ACCEPTED_TEXT}`,
    ]);
    expect(repairs(run)).toEqual([false, true]);
    expect(outcomeOf(run)).toMatchObject({ type: "answered" });
  });

  test("that does not fit twice fails the loop, whichever road was taken [SO-01]", () => {
    for (const second of [final(unfit()), says("words", { output: unfit() }), final(unfit(), FINAL)]) {
      const run = play({ replies: [final(unfit()), second] }).settle();
      expect(run.asked).toHaveLength(2);
      expect(outcomeOf(run)).toMatchObject({ type: "failed", fault: "schema-mismatch" });
    }
  });

  test.each([
    ["one by one", { type: "sequential" }],
    ["all at once", { type: "parallel" }],
  ] as const)("beside real tools is given back, and those run: %s [SO-01, TOOL-08]", (_, strategy) => {
    const run = play({ strategy, replies: [calls("bash", FINAL, "edit"), final(OK)] }).settle();
    expect(run.executed.map(({ toolName }) => toolName)).toEqual(["bash", "edit"]);
    expect(run.lines.slice(2, 5)).toEqual([
      "bash: bash ok",
      `final_answer!: ${formatNotAlone({ name: "final_answer" })}`,
      "edit: edit ok",
    ]);
    expect(repairs(run)).toEqual([false, false]);
    expect(outcomeOf(run)).toMatchObject({ type: "answered" });
  });
});

describe("words of a person", () => {
  test("that wait behind an output that fits begin another turn [SO-01, STEER-01]", () => {
    const run = play({ replies: [final(OK), final(OK)] })
      .until("call-model")
      .steer("s")
      .followUp("f")
      .settle();
    expect(run.lines.filter((line) => line.includes(": s") || line.includes(": f"))).toEqual([
      "steering: s",
      "follow-up: f",
    ]);
    expect(run.lines.at(-1)).toBe("model: done");
    expect(run.commands.at(-1)).not.toHaveProperty("definitionHash");
  });

  test("are read instead of a repair, and of a failure; what is answered to them is judged anew [SO-01]", () => {
    const bad = says("a", { output: unfit() });
    const run = play({ replies: [bad, bad, bad, bad, bad] })
      .until("call-model")
      .steer("one")
      .step();
    expect(run.lines.at(-1)).toBe("model: a");
    run.step().steer("two").step().settle();
    expect(run.lines.filter((line) => !line.startsWith("model"))).toEqual([
      "prompt: hi",
      "steering: one",
      expect.stringMatching(/^machine: Your answer/),
      "steering: two",
      expect.stringMatching(/^machine: Your answer/),
    ]);
    expect(outcomeOf(run)).toMatchObject({ type: "failed", fault: "schema-mismatch" });
  });
});

test("a nudge comes before a repair, and an announcement beyond the nudges is a mismatch [SO-01, IRON-10]", () => {
  const announcing = says("soon", { announces: true, output: unfit() });
  const run = play({ nudges: 1, replies: [announcing, announcing, final(OK)] }).settle();
  expect(run.lines[2]).toMatch(/did not include any tool calls/);
  expect(run.lines[4]).toMatch(/^machine: Your answer was not accepted/);
  expect(outcomeOf(run)).toMatchObject({ type: "answered" });
});

test("a repair that is due is carried across continue-as-new, and across the death of a worker [SO-01, RIG-04]", () => {
  const replies = [says("a", { output: unfit() }), says("{}", { output: OK })];
  const run = play({ replies }).until("call-model");
  run.rotationDue().step().until("rotate").continueAsNew().lose("claimed").lose("stored").settle();
  expect(run.lines).toHaveLength(4);
  expect(outcomeOf(run)).toMatchObject({ type: "answered" });
});

test("a limit and a stop come before a repair [SO-01, LIM-02, X-02]", () => {
  const replies = [says("a", { output: unfit() })];
  const limited = play({ replies, limits: { maxTurns: 1 } }).settle();
  expect(outcomeOf(limited)).toMatchObject({ type: "limit-reached" });
  const stopped = play({ replies }).until("call-model").stop().settle();
  expect(outcomeOf(stopped)).toMatchObject({ type: "stopped" });
});
