import { describe, expect, test } from "vitest";
import { listPendingApprovals } from "../../src/core/machine/approvals.ts";
import { isUserDenial } from "../../src/core/machine/denial-texts.ts";
import type { OpenLoopCommand } from "../../src/core/machine/state/activity-command.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import { omitUndefined } from "../../src/platform/text/omit-undefined.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const ASK_BASH = { rules: [{ tool: "bash", outcome: "ask" as const, reason: "bash is powerful" }] };
const bash = (command: string) => calls({ name: "bash", arguments: { text: "", command } });

const waiting = (run: ReturnType<typeof play>) =>
  listPendingApprovals(run.state).map(({ toolCallId }) => toolCallId);

describe("a call that needs approval", () => {
  test("waits while its sibling calls run, and the events of that time are recorded [IRON-09.4]", async () => {
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

  test("runs when it is approved; the record contains the rule and the answer [TMP-11.1]", async () => {
    const run = play({ replies: [calls("bash"), says("done")], permissions: ASK_BASH });
    await run.until("wait").answer("c0.0").settle();
    expect(run.lines).toContain("bash: bash ok");
    const started = run.transcript
      .listEvents(run.transcript.records[0]?.loopId ?? "")
      .find(({ body }) => body.type === "ToolExecutionStart");
    expect(started?.body).toMatchObject({ permission: { outcome: "ask", rule: 0, answer: "approved" } });
  });

  test("runs with the arguments that the user substituted", async () => {
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

  test("gets one error result with the reason when it is denied, and an End without a Start; the run continues (X-04)", async () => {
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

  test.each([
    ["npm test", undefined, "Command was not confirmed by the user."],
    ["npm test", "", "Command was not confirmed by the user."],
    ["npm test", "not now", "Command was not confirmed by the user. Reason: not now"],
    ["$(cat which)", undefined, "Command was not confirmed by the user."],
  ])(
    "of a shell command `%s` that is denied says that it was not confirmed; reason: %s [BIT-03]",
    async (command, reason, text) => {
      const run = play({ replies: [bash(command), says("done")], permissions: ASK_BASH });
      await run.until("wait").tell({
        type: "approval-answered",
        toolCallId: "c0.0",
        answer: { type: "deny", ...omitUndefined({ reason }) },
      });
      await run.settle();
      expect(run.lines[2]).toBe(`bash!: ${text}`);
      expect(run.executed).toEqual([]);
      expect(isUserDenial(text)).toBe(true);
    },
  );

  test("that the policy denies needs no answer, and its result names the rule [PERM-01.4]", async () => {
    const permissions = { rules: [{ tool: "bash", outcome: "deny" as const }] };
    const run = play({ replies: [calls("bash"), says("done")], permissions });
    await run.settle();
    expect(run.lines.find((line) => line.startsWith("bash"))).toContain(
      "Denied by the policy: rules[0] denies",
    );
    expect(run.executed).toEqual([]);
  });

  test("can wait together with others; answers arrive in any order, and each call has one result, in call order [TOOL-08.1-3]", async () => {
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

  test("ignores an answer to an unknown call, and a second answer", async () => {
    const run = play({ replies: [calls("bash"), says("done")], permissions: ASK_BASH });
    await run.until("wait");
    const before = run.state.phase;
    run.answer("c9.9");
    expect(run.state.phase).toEqual(before);
    await run.answer("c0.0").answer("c0.0", false).settle();
    expect(run.lines).toContain("bash: bash ok");
  });

  test("ignores an answer that arrives when no call is pending", async () => {
    const run = await play().until("call-model");
    const { command } = run;
    await run.answer("c0.0");
    expect(run.command).toEqual(command);
    expect((await run.settle().answer("c0.0")).command.type).toBe("finish");
  });

  test("is denied at the timeout, and its result says so [TMP-11.2]", async () => {
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

  test("times out exactly at its deadline, not before", async () => {
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

  test("is cancelled by a stop, which gives each waiting call a result and ends the run [TMP-11.3]", async () => {
    const run = play({ replies: [calls("bash", "bash")], permissions: ASK_BASH });
    await run.until("wait").stop("enough").settle();
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
    expect(run.lines.filter((line) => line.includes("Cancelled"))).toHaveLength(2);
  });

  test("needs no second approval after always, but another command does", async () => {
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

  test("needs approval again after always with changed arguments", async () => {
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

  test("needs approval again after always for a command that cannot be parsed", async () => {
    const opaque = bash("git $(cat which)");
    const run = play({ replies: [opaque, opaque, says("done")], permissions: ASK_BASH });
    await run.until("wait").answer("c0.0", true, true).settle();
    expect(waiting(run)).toEqual(["c1.0"]);
  });

  test("needs approval again after always for a command with redirected input", async () => {
    const fed = bash("psql db < dump");
    const run = play({ replies: [fed, fed, says("done")], permissions: ASK_BASH });
    await run.until("wait");
    expect(listPendingApprovals(run.state)).toMatchObject([{ grantDescriptions: [] }]);
    await run.answer("c0.0", true, true).settle();
    expect(waiting(run)).toEqual(["c1.0"]);
  });

  test("includes a call of a tool that requires confirmation, unless a rule allows it", async () => {
    const tools = { bash: { replay: "unsafe" as const, quick: false, confirm: true } };
    const asked = play({ replies: [calls("bash"), says("done")], tools });
    expect(waiting(await asked.until("wait"))).toEqual(["c0.0"]);
    const permissions = { rules: [{ tool: "bash", outcome: "allow" as const }] };
    const allowed = await play({ replies: [calls("bash"), says("done")], tools, permissions }).settle();
    expect(allowed.executed).toHaveLength(1);
  });

  test("includes under ask-unsafe a call of an unsafe tool in an interactive run, but not in mode run", async () => {
    const permissions = { otherwise: "ask-unsafe" as const };
    const replies = [calls("edit", "bash"), says("done")];
    const there = await play({ replies, permissions, mode: "interactive" }).until("call-tools").tool(0);
    expect(waiting(there)).toEqual(["c0.1"]);
    expect((await play({ replies, permissions }).settle()).executed).toHaveLength(2);
  });

  test("waits without a timeout in a run that was pinned before approval settings existed", async () => {
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

  test("survives a wait of days, a rotation request and a JSON round trip of the state [TMP-11.4]", async () => {
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

describe("recording events while a call waits for approval", () => {
  const asked = () => play({ replies: [calls("bash", "edit"), says("done")], permissions: ASK_BASH });
  const writing = () => asked().until("call-tools").tool(1);

  test("is dispatched again after its worker is lost, with the same command number", async () => {
    const run = await writing();
    const { command } = run;
    await run.lose("stored");
    expect(run.command).toEqual({ ...command, generation: 1 });
    await run.step();
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    await run.answer("c0.0").settle();
    expect(run.lines).toContain("bash: bash ok");
  });

  test("keeps its command while users answer; an approved call starts after it", async () => {
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

  test("leaves its events to the next command when it fails; the call keeps waiting", async () => {
    const run = await writing().fail("other", "the disk is full");
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    const waits = run.state.outbox.events.length;
    expect(waits).toBeGreaterThan(0);
    await run.answer("c0.0");
    expect(run.call(0).outbox.events).toHaveLength(waits + 1);
    await run.settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("ignores a failure reported before it starts or after it ends", async () => {
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
