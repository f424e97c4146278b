import { describe, expect, test } from "vitest";
import { listPendingApprovals } from "../../src/core/machine/approvals.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import { play, type Run } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const waiting = (run: Run) => listPendingApprovals(run.state).map(({ toolCallId }) => toolCallId);

const eventsOf = (run: Run, tool: string) =>
  run.transcript
    .listEvents(run.transcript.records[0]?.loopId ?? "")
    .map(({ body }) => body)
    .filter((body) => "toolName" in body && body.toolName === tool);

describe("a tool that asks the user", () => {
  test("waits like an approval, without a running command, and its outbox is written once [TMP-11.1]", async () => {
    const run = play({ replies: [calls("edit"), says("done")] });
    await run.until("call-tools").asks(0);
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    expect(buildStatus(run.state)).toMatchObject({
      status: "needs-approval",
      statusText: "waiting for approval of edit",
      approvals: [
        { toolCallId: "c0.0", tool: "edit", reason: "its tool asks the user", questionRef: "question-1" },
      ],
    });
    expect(run.eventLines().filter((line) => line.startsWith("ToolExecutionStart"))).toHaveLength(1);
  });

  test("is called again with the answer under a new number, and ends once; the record has each question and its answer", async () => {
    const run = play({ replies: [calls("edit"), says("done")] });
    await run.until("call-tools");
    const { number } = run.call(0);
    run.asks(0).answer("c0.0");
    const again = run.call(0);
    expect(again.number).not.toBe(number);
    const first = { question: "question-1", answer: "accept", values: "values-1", by: "ada" };
    expect(again).toMatchObject({ generation: 0, questions: [first], outbox: { entries: [], events: [] } });
    run.asks(0, "question-2").answer("c0.0", false);
    const second = { question: "question-2", answer: "decline", by: "ada" };
    expect(run.call(0).questions).toEqual([first, second]);
    await run.settle();
    expect(run.lines).toContain("edit: edit ok");
    expect(eventsOf(run, "edit")).toMatchObject([
      { type: "ToolExecutionStart" },
      { type: "ToolExecutionEnd", isError: false, questions: [first, second] },
    ]);
  });

  test("is dispatched again with the answer if the worker dies during the second call [TMP-11.4]", async () => {
    const run = play({ replies: [calls("edit"), says("done")] });
    await run.until("call-tools").asks(0).answer("c0.0");
    const { number } = run.call(0);
    await run.lose("claimed", 0);
    expect(run.call(0)).toMatchObject({ number, generation: 1, questions: [{ answer: "accept" }] });
    await run.settle();
    expect(run.lines).toContain("edit: edit ok");
  });

  test("does not block its siblings, and continues beside them when it is answered", async () => {
    const run = play({ replies: [calls("edit", "bash"), says("done")] });
    await run.until("call-tools").asks(0);
    expect(run.running).toEqual([1]);
    run.answer("c0.0");
    expect(run.running).toEqual([0, 1]);
    await run.tool(0).tool(1).settle();
    expect(run.lines.filter((line) => / ok$/.test(line))).toEqual(["edit: edit ok", "bash: bash ok"]);
  });

  test("gets an error result if the user does not answer in time, and the timeout is recorded [TMP-11.2]", async () => {
    const run = play({ replies: [calls("edit"), says("done")], approvalTimeoutMs: 5000 });
    await run.until("call-tools").asks(0);
    await run.pass(6000).timePassed().settle();
    expect(run.lines.find((line) => line.startsWith("edit!"))).toContain("nobody answered in time");
    expect(eventsOf(run, "edit").at(-1)).toMatchObject({
      isError: true,
      questions: [{ question: "question-1", answer: "timed-out" }],
    });
  });

  test("is cancelled by a stop, also if the question follows the stop; hooks receive the call's end [TMP-11.3]", async () => {
    const run = play({ replies: [calls("edit")], hooks: ["after-tool"] });
    await run.until("call-tools").asks(0).stop("enough").settle();
    expect(run.lines.find((line) => line.startsWith("edit!"))).toContain("Cancelled");
    expect(eventsOf(run, "edit").at(-1)).toMatchObject({ questions: [{ question: "question-1" }] });
    expect(run.hooked.map(({ line }) => line)).toContainEqual(expect.stringContaining("after-tool"));
    const late = await play({ replies: [calls("edit")] })
      .until("call-tools")
      .stop("enough");
    await late.asks(0).settle();
    expect(late.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
    expect(waiting(late)).toEqual([]);
  });
});
