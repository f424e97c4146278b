import { describe, expect, test } from "vitest";
import type { RunHookCommand } from "../../src/core/machine/state/activity-command.ts";
import type { HookResult } from "../../src/core/machine/state/digest.ts";
import { play } from "./support/run.ts";
import { calls, large, says } from "./support/script.ts";

const HOOKS = ["before-turn"] as const;

/** The hook requires an answer without calls in this turn. */
const textAt =
  (turn: number, notices?: readonly string[]) =>
  (command: RunHookCommand): readonly HookResult[] => [
    command.turn === turn
      ? { type: "yes", textOnly: true, ...(notices === undefined ? {} : { notices }) }
      : { type: "yes" },
  ];

describe("a turn that a hook requires to be answered with text [IRON-05]", () => {
  test("is a model call that forbids calls; the turns around it allow them", async () => {
    const run = await play({
      hooks: HOOKS,
      words: textAt(1, ["Sum up."]),
      replies: [calls("bash"), says("so far"), says("never")],
    }).settle();
    expect(run.asked.map(({ textOnly }) => textOnly)).toEqual([undefined, true]);
    expect(run.lines.slice(-2)).toEqual(["machine: Sum up.", "model: so far"]);
    expect(run.eventLines().filter((line) => line.startsWith("TurnStart"))).toEqual([
      "TurnStart 0 user",
      "TurnStart 1 continuation text only",
    ]);
    const again = play({ hooks: HOOKS, words: textAt(0), replies: [says("one"), says("two")] });
    await again.until("call-model").followUp("more").settle();
    expect(again.asked.map(({ textOnly }) => textOnly)).toEqual([true, undefined]);
  });

  test("answers calls that the model makes all the same, runs none, and goes on", async () => {
    const run = await play({
      hooks: HOOKS,
      words: textAt(0),
      replies: [calls("bash", "edit"), calls("read"), says("done")],
    }).settle();
    const text = "Not run: this turn had to be answered with text, without tool calls.";
    expect(run.lines.slice(2, 4)).toEqual([`bash!: ${text}`, `edit!: ${text}`]);
    expect(run.executed.map(({ toolName }) => toolName)).toEqual(["read"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("is not nudged when its text announces a call [IRON-10]", async () => {
    const announces = says("Let me search for that file.");
    const nudged = await play({ hooks: HOOKS, nudges: 2, replies: [announces, says("done")] }).settle();
    expect(nudged.asked).toHaveLength(2);
    const forced = await play({ hooks: HOOKS, nudges: 2, words: textAt(0), replies: [announces] }).settle();
    expect(forced.asked).toHaveLength(1);
    expect(forced.state.last?.outcome).toEqual({ type: "answered", stopReason: "stop" });
  });

  test("stays one after a compaction, a lost worker and continue-as-new", async () => {
    const run = play({
      hooks: HOOKS,
      words: textAt(3),
      replies: [large(calls("bash")), large(calls("bash")), large(calls("bash")), says("end")],
      compactAbove: 300,
      throughJson: true,
    });
    await run.until("call-tools").step().until("call-tools").step().until("call-tools").step();
    await run.until("call-model").lose();
    expect(run.command).toMatchObject({ type: "call-model", turn: 3, textOnly: true, generation: 1 });
    await run.settle();
    expect(run.commands.map(({ type }) => type)).toContain("compact");
    expect(run.asked.at(-1)).toMatchObject({ textOnly: true });
  });

  test("whose output is a call of the final tool has to be that call", async () => {
    const run = await play({
      hooks: HOOKS,
      words: textAt(0),
      output: "call",
      replies: [calls({ name: "final_answer", arguments: { count: 3 } })],
    }).settle();
    expect(run.state.last).toMatchObject({ outcome: { type: "answered" }, text: '{"count":3}' });
  });
});
