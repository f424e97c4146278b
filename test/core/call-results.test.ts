import { describe, expect, test } from "vitest";
import { estimateMessage } from "../../src/core/view/estimate.ts";
import { play, type Run } from "./support/run.ts";
import { type CallScript, calls, says } from "./support/script.ts";

// What the record contains about calls and their results, whether tools or the machine produced them.

const FINAL: CallScript = { name: "final_answer", arguments: { count: 1 } };
const bodies = (run: Run) => run.transcript.listEvents("s.test.1").map(({ body }) => body);
const about = (run: Run, toolName: string) =>
  bodies(run).filter((body) => "toolName" in body && body.toolName === toolName);
const weight = (run: Run) => run.state.view.spans.reduce((sum, { tokens }) => sum + tokens, 0);
const written = (run: Run) => run.transcript.listEntries(run.state.branch);

describe("results that the machine writes itself", () => {
  const told = () =>
    play({ mode: "interactive", replies: [calls("nothing", "bash"), says("done")] }).settle();
  const judged = () => play({ mode: "interactive", output: "call", replies: [calls(FINAL)] }).settle();

  test("have the origin machine in the record; results of tools have the origin tool", async () => {
    expect(written(await told()).map(({ origin }) => origin)).toEqual([
      "prompt",
      "model",
      "machine",
      "tool",
      "model",
    ]);
    expect(written(await judged()).map(({ origin }) => origin)).toEqual(["prompt", "model", "machine"]);
  });

  test("count in the context with the token estimate of their messages [CTX-03.4]", async () => {
    for (const run of [await told(), await judged()]) {
      expect(weight(run)).toBe(written(run).reduce((sum, { message }) => sum + estimateMessage(message), 0));
    }
  });

  test("belong to the turn of their answer [CMP-11.1]", async () => {
    expect((await told()).state.view.spans.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 4],
      [4, 5],
    ]);
  });
});

test("the end event of a call has the position of its result, whether the call ran or not", async () => {
  const run = await play({ replies: [calls("bash", "edit", "nothing")] }).settle();
  const ends = bodies(run).flatMap((body) =>
    body.type === "ToolExecutionEnd" ? [`${body.toolName} ${body.position}`] : [],
  );
  expect(ends.toSorted()).toEqual(["bash 2", "edit 3", "nothing 4"]);
});

describe("the permission decision of a call", () => {
  const DENIED = { outcome: "deny", rule: 0 };
  const ASKED = { outcome: "ask", rule: 1, answer: "approved" };
  const permissions = {
    rules: [
      { tool: "edit", outcome: "deny" as const },
      { tool: "bash", outcome: "ask" as const },
    ],
  };

  test("is in its start event, in its end event if it never started, and in neither for an unknown tool [PERM-01.4, X-04]", async () => {
    const run = play({ replies: [calls("edit", "bash", "nothing")], permissions });
    await run.until("wait").answer("c0.1").settle();
    expect(about(run, "edit")).toMatchObject([{ type: "ToolExecutionEnd", permission: DENIED }]);
    const [begun, over] = about(run, "bash");
    expect(begun).toMatchObject({ type: "ToolExecutionStart", permission: ASKED });
    expect(over).not.toHaveProperty("permission");
    for (const body of about(run, "nothing")) expect(body).not.toHaveProperty("permission");
  });
});

describe("after-tool hooks", () => {
  test("run only for calls that ran, and every result still has its message events [EVT-14.1]", async () => {
    const run = await play({
      hooks: ["after-tool"],
      permissions: { rules: [{ tool: "edit", outcome: "deny" }] },
      replies: [calls("edit", "bash")],
    }).settle();
    expect(run.eventLines().filter((line) => line.startsWith("Message"))).toEqual(
      [0, 1, 2, 3, 4].flatMap((position) => [`MessageStart ${position}`, `MessageEnd ${position}`]),
    );
    expect(run.hooked.map(({ line }) => line)).toEqual(["after-tool bash"]);
  });

  test("receive whether a call failed, including one whose host is gone [TOOL-05.3]", async () => {
    const run = await play({ hooks: ["after-tool"], replies: [calls("bash", "edit", "read")] }).until(
      "call-tools",
    );
    await run.tool(2, true).tool(1).fail("host-gone", "no host", 0);
    expect(run.command).toMatchObject({
      type: "run-hook",
      question: {
        calls: [
          { call: 0, isError: true },
          { call: 1, isError: false },
          { call: 2, isError: true },
        ],
      },
    });
    await run.settle();
  });
});

test("a call that is cancelled without a stop of the run has a result that says so [TOOL-05.3]", async () => {
  const run = await play({ replies: [calls("bash", "edit")] }).until("call-tools");
  await run.setBack({ type: "cancelled" }, "nothing", 0).settle();
  expect(run.lines.slice(2)).toEqual(["bash!: Cancelled", "edit: edit ok", "model: done"]);
});
