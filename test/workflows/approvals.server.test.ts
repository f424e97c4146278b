import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveUpdate, statusQuery, stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { SessionOptions, TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const touch = (file: string) => ({ name: "bash", arguments: { command: `touch ${file}` } });
const there = (file: string) => existsSync(join(stage.home, file));

function asking(replies: SessionOptions["replies"], agent = {}): TestSession {
  return stage.session({
    replies,
    agent: { tools: ["bash", "list_files"], permissions: { rules: [], otherwise: "ask" }, ...agent },
  });
}

async function waiting(session: TestSession, calls = 1) {
  const status = await eventually(async () => {
    const seen = await session.handle.query(statusQuery);
    return seen.approvals.length === calls && seen.status === "needs-approval" ? seen : undefined;
  });
  return status.approvals;
}

async function refusalOf(update: Promise<unknown>): Promise<string> {
  const error = await update.then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  return String((error?.cause as Error | undefined)?.message ?? error?.message);
}

describe("a call that awaits approval", () => {
  test("runs nothing until the update; it appears in status, search attribute and current details [IRON-09.4, TMP-11.1]", async () => {
    const session = asking([{ toolCalls: [touch("approved")] }, { text: "Done." }]);
    await session.start("Go");
    const [approval] = await waiting(session);
    expect(approval).toMatchObject({ tool: "bash", summary: "touch approved" });
    expect(there("approved")).toBe(false);
    const { searchAttributes } = await session.handle.describe();
    expect(searchAttributes).toMatchObject({ HoldfastStatus: ["needs-approval"] });
    const metadata = await session.handle.query<{ currentDetails?: string }>("__temporal_workflow_metadata");
    expect(metadata.currentDetails).toContain("waiting for approval of bash: touch approved");

    const said = await session.handle.executeUpdate(approveUpdate, {
      args: [{ answer: "approve", by: "ada" }],
    });
    expect(said).toMatchObject({ tool: "bash", waiting: 0 });
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    expect(there("approved")).toBe(true);
    const started = (await session.readEvents()).find(({ body }) => body.type === "ToolExecutionStart")?.body;
    expect(started).toMatchObject({ permission: { outcome: "ask", answer: "approved", by: "ada" } });
  });

  test("after repeated equal failures, the user is asked, and continues the agent or ends its loop", async () => {
    const missing = { toolCalls: [{ name: "no_such_tool", arguments: {} }] };
    const stuck = () =>
      asking([missing, missing, missing, missing], {
        repeatedFailures: { warnAfter: 1, endAfter: 2, action: "ask" },
      });
    const session = stuck();
    await session.start("Go");
    const [first] = await waiting(session);
    expect(first).toMatchObject({
      tool: "no_such_tool",
      reason: expect.stringMatching(/\(2\/2\).*continue\?/),
    });
    expect(session.listRequests()).toHaveLength(2);
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve", by: "ada" }] });
    // The count restarted.
    await eventually(async () => (session.listRequests().length === 4 ? true : undefined));
    await waiting(session);
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "deny", reason: "enough" }] });
    expect(await session.readResult()).toMatchObject({
      outcome: {
        type: "limit-reached",
        reason: expect.stringContaining("no_such_tool failed in the same way"),
      },
    });
    expect(session.listRequests()).toHaveLength(4);
  });

  thoroughTest(
    "of bash is denied without a reason, and the model reads that it was not confirmed [BIT-03]",
    async () => {
      const session = asking([{ toolCalls: [touch("unconfirmed")] }, { text: "I see." }]);
      await session.start("Go");
      await waiting(session);
      await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "deny" }] });
      await session.readResult();
      expect(there("unconfirmed")).toBe(false);
      expect(session.listSeenMessages(1).at(-1)).toBe("user: Command was not confirmed by the user.");
      expect((await session.readEntries())[2]?.message).toMatchObject({ role: "toolResult", isError: true });
    },
  );

  thoroughTest("is denied with a reason that the model reads [BIT-03]", async () => {
    const session = asking([{ toolCalls: [touch("refused")] }, { text: "I see." }]);
    await session.start("Go");
    await waiting(session);
    await session.handle.executeUpdate(approveUpdate, {
      args: [{ answer: "deny", reason: "not on a Sunday" }],
    });
    await session.readResult();
    expect(there("refused")).toBe(false);
    expect((await session.readConversation()).join("\n")).toContain(
      "Command was not confirmed by the user. Reason: not on a Sunday",
    );
  });

  thoroughTest(
    "runs with the arguments that the user supplied; the model's own stay in the record",
    async () => {
      const session = asking([{ toolCalls: [touch("models")] }, { text: "Done." }]);
      await session.start("Go");
      await waiting(session);
      const changed = { command: "touch persons" };
      await session.handle.executeUpdate(approveUpdate, {
        args: [{ answer: "approve", arguments: changed }],
      });
      await session.readResult();
      expect([there("models"), there("persons")]).toEqual([false, true]);
      const answer = (await session.readEntries()).find(({ message }) => message.role === "assistant");
      expect(JSON.stringify(answer)).toContain("touch models");
    },
  );

  thoroughTest(
    "edited arguments that do not fit the tool give an error result, and nothing is run",
    async () => {
      const session = asking([{ toolCalls: [touch("never")] }, { text: "Done." }]);
      await session.start("Go");
      await waiting(session);
      await session.handle.executeUpdate(approveUpdate, {
        args: [{ answer: "approve", arguments: { nonsense: [1] } }],
      });
      await session.readResult();
      expect((await session.readConversation()).join("\n")).toContain("Invalid arguments");
    },
  );

  thoroughTest(
    "of several, one that is approved starts while another runs, and a third still waits",
    async () => {
      const session = asking([
        {
          toolCalls: [
            { name: "bash", arguments: { command: "until [ -e second ]; do sleep 0.05; done; echo first" } },
            touch("second"),
            touch("third"),
          ],
        },
        { text: "Done." },
      ]);
      await session.start("Go");
      const [first, second, third] = await waiting(session, 3);
      const approve = (toolCallId = "") =>
        session.handle.executeUpdate(approveUpdate, { args: [{ toolCallId, answer: "approve" }] });
      await approve(first?.toolCallId);
      await approve(second?.toolCallId);
      await eventually(() => there("second"), { what: "the second call beside the first" });
      expect((await waiting(session)).map(({ toolCallId }) => toolCallId)).toEqual([third?.toolCallId]);
      await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "deny" }] });
      await session.readResult();
      expect(there("third")).toBe(false);
      const results = (await session.readEntries()).filter(({ message }) => message.role === "toolResult");
      expect(results).toHaveLength(3);
    },
  );

  thoroughTest("an invalid answer is rejected, and the error lists the pending calls", async () => {
    const session = asking([{ toolCalls: [touch("a"), touch("b")] }, { text: "Done." }]);
    await session.start("Go");
    await waiting(session, 2);
    const say = (words: object) =>
      refusalOf(session.handle.executeUpdate(approveUpdate, { args: [words as never] }));
    expect(await say({})).toContain('`answer` must be "approve" or "deny"');
    expect(await say({ answer: "approve" })).toMatch(
      /2 calls wait for the user; specify one with toolCallId/,
    );
    expect(await say({ answer: "approve", toolCallId: "nope" })).toMatch(/No call nope waits.*touch a/);
    expect(await say({ answer: "approve", arguments: "ls" })).toContain("`arguments` must be an object");
    await session.handle.signal(stopSignal, "enough");
    expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped" } });
    expect(
      await refusalOf(session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] })),
    ).not.toBe("");
  });

  thoroughTest("after a timeout from the definition it is denied [TMP-11.2]", async () => {
    const session = asking([{ toolCalls: [touch("late")] }, { text: "Done." }], {
      approvals: { timeoutMs: 300 },
    });
    await session.run("Go");
    expect(there("late")).toBe(false);
    expect((await session.readConversation()).join("\n")).toContain("nobody answered in time");
  });

  thoroughTest('"always" approves the same kind of command without asking again', async () => {
    const session = asking([{ toolCalls: [touch("one")] }, { toolCalls: [touch("two")] }, { text: "Done." }]);
    await session.start("Go");
    await waiting(session);
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve", always: true }] });
    await session.readResult();
    expect([there("one"), there("two")]).toEqual([true, true]);
  });

  thoroughTest('"always" also holds in the next run of the session', async () => {
    const session = asking([
      { toolCalls: [touch("first-run")] },
      { text: "Done." },
      { toolCalls: [touch("second-run")] },
      { text: "Done again." },
    ]);
    await session.start("Go");
    await waiting(session);
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve", always: true }] });
    await session.readResult();
    expect(await session.run("Once more")).toMatchObject({ text: "Done again." });
    expect([there("first-run"), there("second-run")]).toEqual([true, true]);
  });
});

describe("the permission policy, with facts from the activity", () => {
  const rules = [
    { tool: "bash", command: "echo", outcome: "allow" as const },
    { path: "secret/**", outcome: "deny" as const, reason: "secrets stay closed" },
  ];
  const policed = (replies: SessionOptions["replies"]) =>
    asking(replies, { permissions: { rules, otherwise: "deny" as const } });

  thoroughTest("each command of a list must be allowed by itself [PERM-01.3]", async () => {
    const list = { name: "bash", arguments: { command: "echo hi; touch sneaked" } };
    const session = policed([{ toolCalls: [list] }, { text: "Done." }]);
    await session.run("Go");
    expect(there("sneaked")).toBe(false);
  });

  thoroughTest("a substitution is never allowed by a rule [PERM-01.3]", async () => {
    const hidden = { name: "bash", arguments: { command: "echo $(touch hidden)" } };
    const session = policed([{ toolCalls: [hidden] }, { text: "Done." }]);
    await session.run("Go");
    expect(there("hidden")).toBe(false);
  });

  test("what a rule allows runs; a rule's denial gives its reason; the rule is in the record [PERM-01.1-2, PERM-01.4]", async () => {
    const session = policed([
      { toolCalls: [{ name: "bash", arguments: { command: "echo allowed" } }] },
      { toolCalls: [{ name: "list_files", arguments: { path: "secret/x" } }] },
      { text: "Done." },
    ]);
    await session.run("Go");
    const conversation = (await session.readConversation()).join("\n");
    expect(conversation).toContain("allowed");
    expect(conversation).toContain("Denied by the policy: secrets stay closed");
    const permissions = (await session.readEvents()).flatMap(({ body }) =>
      "permission" in body && body.permission !== undefined ? [body.permission] : [],
    );
    expect(permissions).toEqual([
      { outcome: "allow", rule: 0 },
      { outcome: "deny", rule: 1 },
    ]);
  });
});
