import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { connect, type Holdfast } from "../../src/client/index.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "../workflows/support/agent-tree.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { TestEvaluation } from "../workflows/support/test-evaluation.ts";
import type { TestSession } from "../workflows/support/test-session.ts";

// Every call in a tree that awaits approval is found at the root, and answered there.

const done: string[] = [];
const pay = defineTool({
  name: "pay",
  description: "Pays",
  inputSchema: z.object({ to: z.string() }),
  replay: "idempotent",
  summarise: ({ to }) => to,
  execute: async ({ to }) => {
    done.push(to);
    return `paid ${to}`;
  },
});

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [pay] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const POLL = { timeout: 15_000, interval: 50 };
const asks = { tools: ["pay"], permissions: { otherwise: "ask" as const } };
const payment = (to: string, id = `call-${to}`) => ({ id, name: "pay", arguments: { to } });
const pays = (to: string, id?: string) => [{ toolCalls: [payment(to, id)] }, { text: `${to} has it.` }];

async function results({ id }: { readonly id: string }): Promise<readonly string[]> {
  const entries = await stage.transcript.readEntries(id, "main", 0, 99);
  return entries.flatMap(({ message }) =>
    message.role === "toolResult"
      ? [message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")]
      : [],
  );
}

/** An agent with two active cashiers, each with a pending payment; the agent itself waits for nothing. */
async function cashiers(ids: { readonly left?: string; readonly right?: string } = {}): Promise<TestSession> {
  const root = createAgentTree(
    stage,
    [
      { toolCalls: [createTaskCall("left", "pay ann"), createTaskCall("right", "pay bob")] },
      { text: "All paid." },
    ],
    { left: pays("ann", ids.left), right: pays("bob", ids.right) },
    {},
    asks,
  );
  await root.start("Pay them");
  await expect
    .poll(
      () =>
        holdfast
          .session(root.id)
          .approvals.list()
          .catch(() => []),
      POLL,
    )
    .toHaveLength(2);
  return root;
}

test("pending calls of sub-agents are listed at the root with their owner, and answered there [TMP-11.1]", async () => {
  const root = await cashiers();
  const waiting = await holdfast.session(root.id).approvals.list();
  expect(waiting.map(({ path, tool, arguments: args }) => ({ path, tool, args }))).toEqual(
    expect.arrayContaining([
      { path: ["left"], tool: "pay", args: { to: "ann" } },
      { path: ["right"], tool: "pay", args: { to: "bob" } },
    ]),
  );
  for (const { session } of waiting) expect(session).toMatch(`${root.id}.sub-`);
  expect(await holdfast.session(root.id).status()).toMatchObject({
    status: "running",
    waitingBelow: 2,
    approvals: [],
  });

  const shown = await runCommandLine(stage, "status", root.id);
  expect(shown.out).toContain("2 calls of its sub-agents wait for the user");
  expect(shown.out).toMatch(/waits +left › pay: ann/);
  expect(shown.out).toMatch(/agents +2 running, 0 ended\n +left \(running\): pay ann · /);

  await expect(holdfast.session(root.id).approvals.approve()).rejects.toMatchObject({
    code: "input-invalid",
    message: expect.stringContaining("call-bob (pay bob, of "),
  });
  await expect(holdfast.session(root.id).approvals.approve("call-nobody")).rejects.toMatchObject({
    code: "approval-unknown",
  });
  const ann = waiting.find(({ toolCallId }) => toolCallId === "call-ann");
  expect(await holdfast.session(root.id).approvals.approve("call-ann")).toMatchObject({
    session: ann?.session,
    tool: "pay",
    waiting: 1,
  });
  await expect.poll(() => holdfast.session(root.id).approvals.list(), POLL).toHaveLength(1);
  const denied = await runCommandLine(stage, "deny", root.id, "--reason", "owes us");
  expect(denied.out).toMatch(`denied: pay of ${root.id}.sub-`);
  expect(await root.readResult()).toMatchObject({ text: "All paid." });
  expect(done.splice(0)).toEqual(["ann"]);
  await expect
    .poll(
      async () =>
        (await holdfast.sessions.list({ children: true })).sessions.find(
          ({ session }) => session === ann?.session,
        )?.root,
      POLL,
    )
    .toBe(root.id);
  const listed = await runCommandLine(stage, "list");
  expect(listed.out).toMatch(/LAST ACTIVE \(UTC\) .* ROOT +TITLE\n/);
  expect(await results(root)).toEqual(["ann has it.", "bob has it."]);
});

thoroughTest(
  "an id that is pending at two agents is ambiguous; each is answered at its own session",
  async () => {
    const root = await cashiers({ left: "call-1", right: "call-1" });
    await expect(holdfast.session(root.id).approvals.approve("call-1")).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("answer at the session that made the call"),
    });
    for (const { session, toolCallId } of await holdfast.session(root.id).approvals.list()) {
      await holdfast.session(session).approvals.approve(toolCallId);
    }
    await root.readResult();
    expect(done.splice(0).sort()).toEqual(["ann", "bob"]);
  },
);

thoroughTest("without search attributes, pending calls of sub-agents are still found", async () => {
  const { address, namespace, home, taskQueue } = stage;
  const bare = await connect({ address, namespace, home, taskQueue, searchAttributes: false });
  const root = createAgentTree(
    stage,
    [{ toolCalls: [createTaskCall("left", "pay ann")] }, { text: "Paid." }],
    { left: pays("ann") },
    {},
    asks,
  );
  const session = await bare.start({ agent: root.definition, prompt: "Pay", session: root.id });
  await expect.poll(() => session.approvals.list().catch(() => []), POLL).toMatchObject([{ path: ["left"] }]);
  expect(await session.status()).toMatchObject({ waitingBelow: 1 });
  await session.approvals.approve();
  await session.result();
  expect(done.splice(0)).toEqual(["ann"]);
  await bare.close();
});

thoroughTest("the time that a sub-agent waits for approval does not count against its caller", async () => {
  const limits = { maxDurationMs: 2_500 };
  const root = createAgentTree(
    stage,
    [{ toolCalls: [createTaskCall("left", "pay ann")] }, { text: "Paid in time." }],
    { left: pays("ann") },
    { limits },
    { ...asks, limits },
  );
  await root.start("Pay");
  await expect
    .poll(
      () =>
        holdfast
          .session(root.id)
          .approvals.list()
          .catch(() => []),
      POLL,
    )
    .toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await holdfast.session(root.id).approvals.approve();
  expect(await root.readResult()).toMatchObject({ outcome: { type: "answered" }, text: "Paid in time." });
  const child = await findChildSession(stage, root);
  expect(await stage.transcript.readLoops(child.id)).toMatchObject([{ outcome: { type: "answered" } }]);
  done.splice(0);
});

thoroughTest(
  "a waiting branch of an evaluation is found at the evaluation's session, and answered there",
  async () => {
    const contest = new TestEvaluation(stage, [
      { replies: pays("cid"), agent: asks },
      { replies: [{ text: "Nobody is paid." }] },
    ]);
    await contest.start("Pay cid");
    await expect
      .poll(
        () =>
          holdfast
            .session(contest.id)
            .approvals.list()
            .catch(() => []),
        POLL,
      )
      .toHaveLength(1);
    expect(await holdfast.session(contest.id).approvals.list()).toMatchObject([
      { toolCallId: "call-cid", path: ["agent-1"] },
    ]);
    await holdfast.session(contest.id).approvals.approve();
    expect(await contest.result()).toMatchObject({ text: "cid has it." });
    expect(done).toContain("cid");
  },
);
