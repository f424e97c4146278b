import { describe, expect, test } from "vitest";
import { ACCEPTED_TEXT, formatNotAlone } from "../../src/core/machine/structured-output.ts";
import { play, type Run } from "./support/run.ts";
import { type CallScript, calls, type Reply, type Setting, says } from "./support/script.ts";

const OK = { count: 1 };
const PROBLEM = "count: found nothing, expected a number";
const good = says(JSON.stringify(OK));
/** JSON without the count. */
const bad = (rest: Omit<Reply, "text"> = {}): Reply => says("{}", rest);
const FINAL: CallScript = { name: "final_answer", arguments: OK };
const UNFIT: CallScript = { name: "final_answer", arguments: {} };
const final = (...all: CallScript[]): Reply => calls(...all);
/** An agent that must answer with a count, in a text or by a call of the final tool. */
const writing = (setting: Setting): Run => play({ output: "text", ...setting });
const counting = (setting: Setting): Run => play({ output: "call", ...setting });
const outcomeOf = (run: Run) => run.state.last?.outcome;
const repairs = (run: Run) => run.asked.map(({ isRepair }) => isRepair === true);

describe("a text that is the output", () => {
  test("ends the loop if it matches, and the close command refers to the answer [SO-01.1]", async () => {
    const run = await writing({ replies: [good] }).settle();
    expect(run.lines).toEqual(["prompt: hi", `model: ${good.text}`]);
    expect(outcomeOf(run)).toEqual({ type: "answered", stopReason: "stop" });
    expect(run.commands.at(-1)).toMatchObject({ type: "close-loop", answer: 1, definitionHash: "hash" });
  });

  test("that does not match gets one repair round that says what is wrong, in a turn of its own [SO-01.3]", async () => {
    const run = await writing({ replies: [bad(), good] }).settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: {}",
      `machine: Your answer was not accepted: ${PROBLEM}\nAnswer again, with the complete output.`,
      `model: ${good.text}`,
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

  test("fails the loop the second time that it does not match, with what was found and expected [SO-01.3]", async () => {
    const replies = [bad(), bad()];
    const run = await writing({ replies }).settle();
    expect(run.asked).toHaveLength(2);
    expect(outcomeOf(run)).toEqual({
      type: "failed",
      fault: "schema-mismatch",
      message: `The answer is not the required output: ${PROBLEM}`,
    });
    expect(run.eventLines().at(-1)).toBe("AgentEnd failed 0..4");
    expect(run.commands.at(-1)).not.toHaveProperty("definitionHash");
  });

  test("that a vendor has filtered gets no repair round [SO-01.3]", async () => {
    const run = await writing({ replies: [bad({ stopReason: "guardRail" })] }).settle();
    expect(run.asked).toHaveLength(1);
    expect(outcomeOf(run)).toMatchObject({ type: "failed", fault: "schema-mismatch" });
  });

  test("may follow tool calls in the repair round, which stays the only one [SO-01.3]", async () => {
    const replies = [bad(), calls("bash"), bad()];
    const run = await writing({ replies }).settle();
    expect(run.asked).toHaveLength(3);
    expect(outcomeOf(run)).toMatchObject({ fault: "schema-mismatch" });
  });

  test("of each loop has a repair round of its own [SO-01.3]", async () => {
    const run = await writing({ mode: "interactive", replies: [bad(), good, bad(), good] }).settle();
    await run.prompt("more").settle();
    expect(run.asked).toHaveLength(4);
    expect(outcomeOf(run)).toMatchObject({ type: "answered" });
  });
});

describe("a call of the final tool", () => {
  test("is never run, has one result, and ends the loop [SO-01.2, TOOL-08.1]", async () => {
    const run = await counting({ replies: [final(FINAL)] }).settle();
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

  test("that does not match gets an error result and a repair round [SO-01.2-3]", async () => {
    const run = await counting({ replies: [final(UNFIT), final(FINAL)] }).settle();
    expect(run.lines.slice(2)).toEqual([
      `final_answer!: Not accepted: ${PROBLEM}`,
      "model: calling +final_answer",
      `final_answer: ${ACCEPTED_TEXT}`,
    ]);
    expect(repairs(run)).toEqual([false, true]);
    expect(outcomeOf(run)).toMatchObject({ type: "answered" });
  });

  test("that does not match fails the loop if the repair round brings a bad call, a text or two calls [SO-01.3]", async () => {
    for (const second of [final(UNFIT), says("words"), final(UNFIT, UNFIT)]) {
      const run = await counting({ replies: [final(UNFIT), second] }).settle();
      expect(run.asked).toHaveLength(2);
      expect(outcomeOf(run)).toMatchObject({ type: "failed", fault: "schema-mismatch" });
    }
  });

  test.each([
    ["one by one", { type: "sequential" }],
    ["all at once", { type: "parallel" }],
  ] as const)(
    "beside other calls gets an error, and those run: %s [SO-01.2, TOOL-08.3]",
    async (_, strategy) => {
      const run = await counting({
        strategy,
        replies: [calls("bash", FINAL, "edit"), final(FINAL)],
      }).settle();
      expect(run.executed.map(({ toolName }) => toolName)).toEqual(["bash", "edit"]);
      expect(run.lines.slice(2, 5)).toEqual([
        "bash: bash ok",
        `final_answer!: ${formatNotAlone({ name: "final_answer" })}`,
        "edit: edit ok",
      ]);
      expect(repairs(run)).toEqual([false, false]);
      expect(outcomeOf(run)).toMatchObject({ type: "answered" });
    },
  );
});

describe("messages of the user", () => {
  test("that are queued when a matching output arrives start another turn [SO-01.3, STEER-01.2]", async () => {
    const run = await counting({ replies: [final(FINAL), final(FINAL)] })
      .until("call-model")
      .steer("s")
      .followUp("f")
      .settle();
    expect(run.lines.filter((line) => /^(steering|follow-up)/.test(line))).toEqual([
      "steering: s",
      "follow-up: f",
    ]);
    expect(outcomeOf(run)).toMatchObject({ type: "failed", fault: "schema-mismatch" });
    expect(run.commands.at(-1)).not.toHaveProperty("definitionHash");
  });

  test("are delivered instead of a repair or a failure, and the next answer is validated anew [SO-01.3]", async () => {
    const run = await counting({ replies: Array.from({ length: 5 }, () => bad()) })
      .until("call-model")
      .steer("one")
      .step();
    expect(run.lines.at(-1)).toBe("model: {}");
    await run.step().steer("two").step().settle();
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

test("a nudge precedes a repair round, and an announcement after the last nudge is a mismatch [SO-01.3, IRON-10.3]", async () => {
  const announcing = says("Let me check soon");
  const run = await counting({ nudges: 1, replies: [announcing, announcing, final(FINAL)] }).settle();
  expect(run.lines[2]).toMatch(/did not include any tool calls/);
  expect(run.lines[4]).toMatch(/^machine: Your answer was not accepted/);
  expect(outcomeOf(run)).toMatchObject({ type: "answered" });
});

test("a pending repair round survives continue-as-new and the death of a worker [SO-01.3, RIG-04.2]", async () => {
  const replies = [bad(), good];
  const run = await writing({ replies }).until("call-model");
  await run.rotationDue().step().until("rotate").continueAsNew().lose("claimed").lose("stored").settle();
  expect(run.lines).toHaveLength(4);
  expect(outcomeOf(run)).toMatchObject({ type: "answered" });
});

test("a limit and a stop take precedence over a repair round [LIM-02.2]", async () => {
  const replies = [bad()];
  const limited = await writing({ replies, limits: { maxTurns: 1 } }).settle();
  expect(outcomeOf(limited)).toMatchObject({ type: "limit-reached" });
  const stopped = await writing({ replies }).until("call-model").stop().settle();
  expect(outcomeOf(stopped)).toMatchObject({ type: "stopped" });
});
