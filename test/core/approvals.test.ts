import { describe, expect, test } from "vitest";
import { listPendingApprovals } from "../../src/core/machine/approvals.ts";
import type { OpenLoopCommand } from "../../src/core/machine/state/command.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const ASK_BASH = { rules: [{ tool: "bash", outcome: "ask" as const, reason: "bash is powerful" }] };
const bash = (command: string) => calls({ name: "bash", arguments: { text: "", command } });

const waiting = (run: ReturnType<typeof play>) =>
  listPendingApprovals(run.state).map(({ toolCallId }) => toolCallId);

describe("a call that needs approval [IRON-09, TMP-11, BIT-03, PERM-01]", () => {
  test("waits, while its siblings go on, and what happened meanwhile is written down", async () => {
    const run = play({ replies: [calls("bash", "edit"), says("done")], permissions: ASK_BASH });
    await run.until("call-tools");
    expect(run.running).toEqual([1]);
    await run.tool(1);
    expect(run.command).toMatchObject({ type: "record" });
    await run.step();
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    expect(buildStatus(run.state)).toMatchObject({
      status: "needs-approval",
      statusText: "waiting for approval of bash",
      approvals: [{ toolCallId: "c0.0", tool: "bash", reason: "bash is powerful" }],
    });
    expect(run.eventLines().at(-1)).toContain("MessageEnd");
  });

  test("runs when it is approved; the rule and the answer are in the record", async () => {
    const run = play({ replies: [calls("bash"), says("done")], permissions: ASK_BASH });
    await run.until("wait").answer("c0.0").settle();
    expect(run.lines).toContain("bash: bash ok");
    const started = run.transcript
      .listEvents(run.transcript.records[0]?.loopId ?? "")
      .find(({ body }) => body.type === "ToolExecutionStart");
    expect(started?.body).toMatchObject({ permission: { outcome: "ask", rule: 0, answer: "approved" } });
  });

  test("runs with the arguments that the person put in place", async () => {
    const run = play({ replies: [calls("bash"), says("done")], permissions: ASK_BASH });
    await run.until("wait").tell({
      type: "approval-answered",
      toolCallId: "c0.0",
      answer: { type: "approve", arguments: { text: "", command: "ls" } },
      by: "ada",
    });
    expect(run.call(0).changedArguments).toEqual({ text: "", command: "ls" });
    await run.settle();
    expect(run.lines).toContain("bash: bash ok");
  });

  test("gives one error result with the reason when it is refused, an End without a Start, and the run goes on (X-04)", async () => {
    const run = play({ replies: [calls("bash", "edit"), says("done")], permissions: ASK_BASH });
    await run.until("call-tools").tool(1).until("wait");
    await run.answer("c0.0", false).settle();
    expect(run.lines.filter((line) => line.startsWith("bash"))).toEqual([
      expect.stringContaining("Denied by the user: no"),
    ]);
    const bash = run.transcript
      .listEvents(run.transcript.records[0]?.loopId ?? "")
      .filter(({ body }) => "toolName" in body && body.toolName === "bash")
      .map(({ body }) => body.type);
    expect(bash).toEqual(["ToolExecutionEnd"]);
    expect(run.executed.map(({ toolName }) => toolName)).toEqual(["edit"]);
  });

  test("that was denied by the policy is never asked for, and says which rule", async () => {
    const permissions = { rules: [{ tool: "bash", outcome: "deny" as const }] };
    const run = play({ replies: [calls("bash"), says("done")], permissions });
    await run.settle();
    expect(run.lines.find((line) => line.startsWith("bash"))).toContain(
      "Denied by the policy: rules[0] denies",
    );
    expect(run.executed).toEqual([]);
  });

  test("several wait at once and are answered in any order; each call has one result, in call order [TOOL-08]", async () => {
    const run = play({ replies: [calls("bash", "bash", "bash"), says("done")], permissions: ASK_BASH });
    await run.until("wait");
    expect(waiting(run)).toEqual(["c0.0", "c0.1", "c0.2"]);
    run.answer("c0.2").answer("c0.0", false);
    expect(run.running).toEqual([2]);
    run.answer("c0.1");
    expect([...run.running].sort()).toEqual([1, 2]);
    await run.tool(2).tool(1).settle();
    expect(run.lines.filter((line) => line.startsWith("bash"))).toEqual([
      "bash!: Denied by the user: no",
      "bash: bash ok",
      "bash: bash ok",
    ]);
  });

  test("an answer to a call that does not wait changes nothing", async () => {
    const run = play({ replies: [calls("bash"), says("done")], permissions: ASK_BASH });
    await run.until("wait");
    const before = run.state.phase;
    run.answer("c9.9");
    expect(run.state.phase).toEqual(before);
    await run.answer("c0.0").answer("c0.0", false).settle();
    expect(run.lines).toContain("bash: bash ok");
  });

  test("an answer that comes when no call is under way changes nothing", async () => {
    const run = await play().until("call-model");
    const { command } = run;
    await run.answer("c0.0");
    expect(run.command).toEqual(command);
    expect((await run.settle().answer("c0.0")).command.type).toBe("finish");
  });

  test("nobody answers in time: it is refused, and says so", async () => {
    const run = play({
      replies: [calls("bash"), says("done")],
      permissions: ASK_BASH,
      approvalTimeoutMs: 5000,
    });
    await run.until("wait");
    const { command } = run;
    expect(command.type === "wait" && command.untilMs).toBeGreaterThan(run.now);
    run.pass(1000).timePassed();
    expect(waiting(run)).toEqual(["c0.0"]);
    await run.pass(5000).timePassed().settle();
    expect(run.lines.find((line) => line.startsWith("bash"))).toContain("nobody answered in time");
  });

  test("the time is up at its millisecond, not before", async () => {
    const run = await play({
      replies: [calls("bash"), says("done")],
      permissions: ASK_BASH,
      approvalTimeoutMs: 5000,
    }).until("wait");
    const { command } = run;
    const untilMs = command.type === "wait" ? (command.untilMs ?? 0) : 0;
    await run.pass(untilMs - run.now - 2).timePassed();
    expect(waiting(run)).toEqual(["c0.0"]);
    await run.timePassed();
    expect(run.now).toBe(untilMs);
    expect(waiting(run)).toEqual([]);
  });

  test("stop ends the waiting, with a result for each call and the terminal event", async () => {
    const run = play({ replies: [calls("bash", "bash")], permissions: ASK_BASH });
    await run.until("wait").stop("enough").settle();
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
    expect(run.lines.filter((line) => line.includes("Cancelled"))).toHaveLength(2);
  });

  test("always: the same command is not asked for again, another one is", async () => {
    const run = play({
      replies: [bash("git push origin"), bash("git push origin"), bash("git push --force"), says("done")],
      permissions: ASK_BASH,
    });
    await run.until("wait");
    expect(listPendingApprovals(run.state)).toMatchObject([
      { grantDescriptions: ["exactly `git push origin`"] },
    ]);
    await run.answer("c0.0", true, true).settle();
    expect(run.executed).toHaveLength(2);
    expect(waiting(run)).toEqual(["c2.0"]);
    await run.answer("c2.0", false).settle();
  });

  test("always, with other arguments than those that were shown: the next one is asked for", async () => {
    const push = () => bash("git push origin");
    const run = play({ replies: [push(), push(), says("done")], permissions: ASK_BASH });
    await run.until("wait").tell({
      type: "approval-answered",
      toolCallId: "c0.0",
      answer: { type: "approve", arguments: { text: "", command: "ls" }, always: true },
    });
    await run.settle();
    expect(waiting(run)).toEqual(["c1.0"]);
  });

  test("always, for a command that cannot be read: the next one is asked for all the same", async () => {
    const opaque = bash("git $(cat which)");
    const run = play({ replies: [opaque, opaque, says("done")], permissions: ASK_BASH });
    await run.until("wait").answer("c0.0", true, true).settle();
    expect(waiting(run)).toEqual(["c1.0"]);
  });

  test("always, for a command that reads its input from elsewhere: the next one is asked for", async () => {
    const fed = bash("psql db < dump");
    const run = play({ replies: [fed, fed, says("done")], permissions: ASK_BASH });
    await run.until("wait");
    expect(listPendingApprovals(run.state)).toMatchObject([{ grantDescriptions: [] }]);
    await run.answer("c0.0", true, true).settle();
    expect(waiting(run)).toEqual(["c1.0"]);
  });

  test("a tool that wants to be confirmed is asked for unless a rule allows it", async () => {
    const tools = { bash: { replay: "unsafe" as const, quick: false, confirm: true } };
    const asked = play({ replies: [calls("bash"), says("done")], tools });
    expect(waiting(await asked.until("wait"))).toEqual(["c0.0"]);
    const permissions = { rules: [{ tool: "bash", outcome: "allow" as const }] };
    const allowed = await play({ replies: [calls("bash"), says("done")], tools, permissions }).settle();
    expect(allowed.executed).toHaveLength(1);
  });

  test("the default asks for unsafe tools when a person is there, and not otherwise", async () => {
    const permissions = { otherwise: "ask-unsafe" as const };
    const replies = [calls("edit", "bash"), says("done")];
    const there = await play({ replies, permissions, mode: "interactive" }).until("call-tools").tool(0);
    expect(waiting(there)).toEqual(["c0.1"]);
    expect((await play({ replies, permissions }).settle()).executed).toHaveLength(2);
  });

  test("a run that was pinned before there were settings for it asks, and waits for ever", async () => {
    const run = play({ replies: [calls("bash")], permissions: ASK_BASH });
    const opened = await run.perform(run.command as OpenLoopCommand);
    if (opened.type !== "loop-opened") throw new Error(opened.type);
    const { approvals: _, ...before } = opened.digest;
    await run
      .tell({ ...opened, digest: before })
      .until("call-model")
      .step();
    expect(waiting(run)).toEqual(["c0.0"]);
    await run.until("wait");
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
  });

  test("a wait of days survives continue-as-new and a state that was written out", async () => {
    const run = play({ replies: [calls("bash"), says("done")], permissions: ASK_BASH, throughJson: true });
    await run
      .until("wait")
      .rotationDue()
      .pass(3 * 86_400_000);
    expect(waiting(run)).toEqual(["c0.0"]);
    await run.answer("c0.0").settle();
    expect(run.lines).toContain("bash: bash ok");
  });
});

describe("writing down what happened while a person is asked", () => {
  const asked = () => play({ replies: [calls("bash", "edit"), says("done")], permissions: ASK_BASH });
  const writing = () => asked().until("call-tools").tool(1);

  test("is given out again after a lost worker, under the same number", async () => {
    const run = await writing();
    const { command } = run;
    await run.lose("stored");
    expect(run.command).toEqual({ ...command, generation: 1 });
    await run.step();
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    await run.answer("c0.0").settle();
    expect(run.lines).toContain("bash: bash ok");
  });

  test("goes on under its number while people answer, and what they let run comes behind it", async () => {
    const replies = [calls("bash", "bash"), says("done")];
    const run = await play({ replies, permissions: ASK_BASH }).until("record");
    const { command } = run;
    expect((await run.answer("c0.0", false)).command).toEqual(command);
    expect((await run.answer("c0.1")).command).toEqual(command);
    await run.step();
    expect(run.running).toEqual([1]);
    await run.settle();
    expect(run.lines.slice(2, 4)).toEqual(["bash!: Denied by the user: no", "bash: bash ok"]);
  });

  test("is left to the next command when it has failed: the person is waited for all the same", async () => {
    const run = await writing().fail("other", "the disk is full");
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    const waits = run.state.outbox.events.length;
    expect(waits).toBeGreaterThan(0);
    await run.answer("c0.0");
    expect(run.call(0).outbox.events).toHaveLength(waits + 1);
    await run.settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("is over when it is answered twice: the second changes nothing", async () => {
    const again = { type: "record-failed" as const, failure: { type: "lost" as const, attempts: 0 } };
    const before = await asked().until("call-tools");
    const running = before.state.phase;
    expect((await before.tell(again)).state.phase).toEqual(running);
    const run = await writing().step();
    const { phase } = run.state;
    await run.tell(again);
    expect(run.state.phase).toEqual(phase);
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
  });
});
