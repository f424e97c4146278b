import { describe, expect, test } from "vitest";
import { MAX_COUNTED } from "../../src/core/machine/repeated-failures.ts";
import { RepeatSettings } from "../../src/schema/recovery.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const wrong = { name: "bash", invalid: true } as const;
const TOLD = "Invalid arguments: text: found nothing, expected text";

const thirdOf = (tool: string) =>
  `This is the third call of ${tool} in a row that cannot be run: do not repeat it. Correct the problem described above, or continue without ${tool}.`;

/** The texts of the results, in order. */
function results(run: ReturnType<typeof play>): readonly string[] {
  return run.lines.filter((line) => /^(bash|read|edit|nope)!?: /.test(line));
}

describe("repeated calls that cannot be run", () => {
  test("the result of the third one in a row for a tool says so, and the run continues [RIG-07.3, GAP-12]", async () => {
    const run = await play({
      replies: [calls(wrong), calls(wrong), calls(wrong), calls(wrong), says("I give up on it")],
    }).settle();
    expect(results(run)).toEqual([
      `bash!: ${TOLD}`,
      `bash!: ${TOLD}`,
      `bash!: ${TOLD}\n${thirdOf("bash")}`,
      `bash!: ${TOLD}\n${thirdOf("bash").replace("the third call", "call number 4")}`,
    ]);
    expect(run.state.last?.outcome).toMatchObject({ type: "answered" });
    expect(run.commands.filter(({ type }) => type === "call-model")).toHaveLength(5);
  });

  test("a call of an unknown tool counts as well", async () => {
    const run = await play({ replies: [calls("nope"), calls("nope"), calls("nope"), says("ok")] }).settle();
    expect(results(run)[2]).toBe(`nope!: Tool nope not found\n${thirdOf("nope")}`);
  });

  test("calls within one answer count too, in call order", async () => {
    const run = await play({ replies: [calls(wrong, wrong, wrong), says("ok")] }).settle();
    expect(results(run).map((line) => line.includes("in a row"))).toEqual([false, false, true]);
  });

  test("a valid call of the tool in between resets the count [RIG-07.3]", async () => {
    const run = await play({
      replies: [
        calls(wrong),
        calls(wrong),
        calls("bash"),
        calls(wrong),
        calls(wrong),
        calls(wrong),
        says("ok"),
      ],
    }).settle();
    expect(results(run).map((line) => line.includes("in a row"))).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test("a valid call of another tool does not reset the count", async () => {
    const run = await play({
      replies: [calls(wrong), calls("read"), calls(wrong, "edit"), calls(wrong), says("ok")],
    }).settle();
    expect(results(run).filter((line) => line.includes("in a row"))).toHaveLength(1);
  });

  test("calls of an answer that was cut off by the output limit do not count", async () => {
    const cut = { ...calls(wrong), stopReason: "length" as const };
    const run = await play({ replies: [cut, cut, cut, calls(wrong), says("ok")] }).settle();
    expect(run.lines.join("\n")).not.toContain("in a row");
  });

  test("the next loop counts from zero", async () => {
    const run = play({
      mode: "interactive",
      replies: [calls(wrong), calls(wrong), says("ok"), calls(wrong)],
    });
    await run.settle();
    await run.prompt("again").settle();
    expect(run.lines.join("\n")).not.toContain("in a row");
  });

  test("the state stores only shortened tool names, whatever names a model invents", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `${"x".repeat(500)}${index}`);
    const repeats = RepeatSettings.parse({ endAfter: null });
    const run = play({ repeats, replies: [...names.map((name) => calls(name)), says("ok")] });
    await run.until("call-model");
    for (let turn = 0; turn < 40; turn++) await run.step();
    const mistakes = run.state.loop?.repeatedFailures ?? [];
    // Names with the same shortened form count as one.
    expect(mistakes).toMatchObject([{ tool: `${"x".repeat(64)}...`, inARow: 40 }]);
    expect(JSON.stringify(mistakes).length).toBeLessThan(400);
  });

  test("of many tool names, only the newest are counted", async () => {
    const names = Array.from({ length: MAX_COUNTED + 2 }, (_, index) => `tool${index}`);
    const run = await play({ replies: [calls(...names), says("ok")] })
      .until("call-model")
      .step();
    expect(run.state.loop?.repeatedFailures?.map(({ tool }) => tool)).toEqual(names.slice(2));
  });

  test("the count survives JSON serialization and continue-as-new", async () => {
    const run = play({ throughJson: true, replies: [calls(wrong), calls(wrong), calls(wrong), says("ok")] });
    await run.until("call-model").step();
    await run.rotationDue().step();
    await run.until("finish");
    expect(results(run)[2]).toContain(thirdOf("bash"));
    expect(run.run).not.toBe("run1");
  });
});
