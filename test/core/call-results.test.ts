import { describe, expect, test } from "vitest";
import { estimateMessage } from "../../src/core/view/estimate.ts";
import { type CallScript, calls, type Play, play, says } from "./play.ts";

// What is written of calls and of their results, whoever has made them.

const FINAL: CallScript = { name: "final_answer", final: true };
const bodies = (run: Play) => run.transcript.eventsOf("s.test.1").map(({ body }) => body);
const about = (run: Play, toolName: string) =>
  bodies(run).filter((body) => "toolName" in body && body.toolName === toolName);
const weight = (run: Play) => run.state.view.spans.reduce((sum, { tokens }) => sum + tokens, 0);
const written = (run: Play) => run.transcript.entries(run.state.branch);

describe("results that the machine writes itself", () => {
  const told = () =>
    play({ mode: "interactive", replies: [calls("nothing", "bash"), says("done")] }).settle();
  const judged = () =>
    play({ mode: "interactive", replies: [{ ...calls(FINAL), output: { ok: true } }] }).settle();

  test("are the machine's in the record, and those of tools are the tools'", () => {
    expect(written(told()).map(({ origin }) => origin)).toEqual([
      "prompt",
      "model",
      "machine",
      "tool",
      "model",
    ]);
    expect(written(judged()).map(({ origin }) => origin)).toEqual(["prompt", "model", "machine"]);
  });

  test("weigh in the context what they weigh as messages [CTX-03]", () => {
    for (const run of [told(), judged()]) {
      expect(weight(run)).toBe(written(run).reduce((sum, { message }) => sum + estimateMessage(message), 0));
    }
  });

  test("stand in the turn of their answer [CMP-11]", () => {
    expect(told().state.view.spans.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 4],
      [4, 5],
    ]);
  });
});

describe("why a call was run or not", () => {
  const DENIED = { outcome: "deny", rule: 0 };
  const ASKED = { outcome: "ask", rule: 1, answer: "approved" };
  const permissions = {
    rules: [
      { tool: "edit", outcome: "deny" as const },
      { tool: "bash", outcome: "ask" as const },
    ],
  };

  test("stands where it starts, or at its end when it never did, and nowhere for a tool that is none [PERM-01, X-04]", () => {
    const run = play({ replies: [calls("edit", "bash", "nothing")], permissions });
    run.until("wait").answer("c0.1").settle();
    expect(about(run, "edit")).toMatchObject([{ type: "ToolExecutionEnd", permission: DENIED }]);
    const [begun, over] = about(run, "bash");
    expect(begun).toMatchObject({ type: "ToolExecutionStart", permission: ASKED });
    expect(over).not.toHaveProperty("permission");
    for (const body of about(run, "nothing")) expect(body).not.toHaveProperty("permission");
  });
});

describe("hooks behind tools", () => {
  test("leave the events of results alone that they are not told of [EVT-14]", () => {
    const run = play({
      hooks: ["after-tool"],
      permissions: { rules: [{ tool: "edit", outcome: "deny" }] },
      replies: [calls("edit", "bash")],
    }).settle();
    expect(run.eventLines().filter((line) => line.startsWith("Message"))).toEqual(
      [0, 1, 2, 3, 4].flatMap((position) => [`MessageStart ${position}`, `MessageEnd ${position}`]),
    );
    expect(run.hooked.map(({ line }) => line)).toEqual(["after-tool bash"]);
  });

  test("are told whether a call has failed, also one that was given up [EVT-14, TOOL-05]", () => {
    const run = play({ hooks: ["after-tool"], replies: [calls("bash", "edit", "read")] }).until("call-tools");
    run.tool(2, true).tool(1).fail("host-gone", "no host", 0);
    expect(run.command).toMatchObject({
      type: "run-hook",
      ask: {
        calls: [
          { call: 0, isError: true },
          { call: 1, isError: false },
          { call: 2, isError: true },
        ],
      },
    });
    run.settle();
  });
});

test("a call that was cancelled, and nobody has stopped the run, has a result that says so [TOOL-05, ABT-01]", () => {
  const run = play({ replies: [calls("bash", "edit")] }).until("call-tools");
  run.setBack({ type: "cancelled" }, "nothing", 0).settle();
  expect(run.lines.slice(2)).toEqual(["bash!: Cancelled", "edit: edit ok", "model: done"]);
});
