import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { SessionStatus } from "../../src/client/index.ts";
import type { VendorWait } from "../../src/conversation/step-wait.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "./support/agent-tree.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

// What an operator sees of a busy vendor (design 3.12): attempt, last failure, next try.

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ registered: { limits: { limited: { requestsPerMinute: 1 } } } });
});
afterAll(() => stage.close());

const BUSY = {
  fault: "rate-limited",
  retryAfterMs: 20_000,
  message: "too many tokens for key sk-live-0123456789abcdefghij",
} as const;

async function statusOf(session: string, wanted: (status: SessionStatus) => boolean): Promise<SessionStatus> {
  const holdfast = await connectClient(stage);
  onTestFinished(() => holdfast.close());
  return await eventually(async () => {
    const status = await holdfast.session(session).status();
    return wanted(status) ? status : undefined;
  });
}

test("status shows a retry of the vendor: attempt, last failure without anything that looks like a key, and the time of the next try", async () => {
  const session = stage.session({ faults: [BUSY], replies: [{ text: "Now." }] });
  await session.start("Go");
  const begun = Date.now();
  const { pending } = await statusOf(session.id, (status) => status.pending[0]?.attempt === 2);
  expect(pending).toMatchObject([{ type: "call-model", state: "scheduled", attempt: 2, maxAttempts: 4 }]);
  expect(pending[0]?.lastFailure).toMatch(/too many tokens for key \*\*\*/);
  const nextInMs = (pending[0]?.nextAttemptAt?.getTime() ?? 0) - begun;
  expect(nextInMs).toBeGreaterThan(15_000);
  expect(nextInMs).toBeLessThan(25_000);
  const { out } = await runCommandLine(stage, "status", session.id);
  expect(out).toMatch(/model: scheduled, attempt 2 of 4, next in \d+ s .*; last failure: .*too many tokens/);
  expect(out).not.toContain("sk-live");
  await session.handle.terminate();
});

thoroughTest(
  "a vendor that asks for a pause of years is displayed as waited for, and the loop's duration limit ends the wait",
  async () => {
    const session = stage.session({
      agent: { limits: { maxDurationMs: 6_000 } },
      faults: [{ ...BUSY, retryAfterMs: 999_999_999_999_000, times: 9 }],
      replies: [{ text: "never" }],
    });
    await session.start("Go");
    // The run and the server are queried one after the other: only one of them may show the call's last moments.
    const { statusText } = await statusOf(
      session.id,
      (status) => status.pending.length === 0 && /^waiting until/.test(status.statusText ?? ""),
    );
    expect(statusText).toMatch(
      /^waiting until 20\S+Z before .* is called again \(turn 0; rate-limited: .*too many tokens/,
    );
    const { out } = await runCommandLine(stage, "status", session.id);
    expect(out).toMatch(/waiting until 20/);
    expect(out).not.toContain("sk-live");
    expect(await session.readResult()).toMatchObject({
      outcome: { type: "limit-reached", reason: expect.stringContaining("Max duration reached") },
    });
    expect(session.listRequests()).toHaveLength(1);
  },
);

thoroughTest(
  "a model call that waits for its turn is displayed as waiting: to an operator, in the heartbeat, and to readers of live output",
  async () => {
    const session = stage.session({
      agent: { tools: ["list_files"], model: { provider: "limited" } },
      replies: [{ toolCalls: [{ name: "list_files", arguments: { path: "." } }] }, { text: "never" }],
    });
    await session.start("Go");
    const watched = watch(session.id);
    const { pending } = await statusOf(session.id, (status) => status.pending[0]?.wait !== undefined);
    expect(pending).toMatchObject([
      { type: "call-model", state: "started", wait: { type: "rate", vendor: "limited", ahead: 0 } },
    ]);
    const { sinceMs, untilMs = 0 } = pending[0]!.wait as VendorWait;
    expect(untilMs - sinceMs).toBeGreaterThan(50_000);
    const words =
      "waits for its turn: the limits for limited are used up for this minute, the next may go in";
    expect((await runCommandLine(stage, "status", session.id)).out).toContain(`attempt 1 of 4; ${words}`);
    const json = JSON.parse((await runCommandLine(stage, "--json", "status", session.id)).out);
    expect(json.pending[0].wait).toMatchObject({ type: "rate", untilMs });
    expect(await watched).toContain(words);
    const { history } = await historyOf(session.id);
    expect(history).not.toContain("wait");
    await session.handle.cancel();
    await session.readResult();
  },
);

/** The line of live output that states what is waited for. */
async function watch(session: string): Promise<string> {
  const holdfast = await connectClient(stage);
  onTestFinished(() => holdfast.close());
  for await (const { event } of holdfast.session(session).events()) {
    if (event.type === "ProgressMessage" && event.toolCallId === "model") return event.text;
  }
  return "nothing";
}

async function historyOf(session: string): Promise<{ history: string }> {
  const { events } = await stage.client.workflow.getHandle(session).fetchHistory();
  return { history: JSON.stringify(events) };
}

thoroughTest("a running tool is displayed with its running time and its worker", async () => {
  const session = stage.session({
    agent: { tools: ["bash"] },
    replies: [{ toolCalls: [{ name: "bash", arguments: { command: "sleep 600" } }] }],
  });
  await session.start("Go");
  const { pending } = await statusOf(session.id, (status) => status.pending[0]?.type === "bash");
  expect(pending).toMatchObject([{ state: "started", attempt: 1, lastFailure: undefined }]);
  expect(pending[0]?.worker).toContain(`:${process.pid}:`);
  expect((await runCommandLine(stage, "status", session.id)).out).toMatch(
    /bash: started for \d+ s, attempt 1 of 1/,
  );
  await session.handle.cancel();
  await session.readResult();
});

test("a sub-agent's retry is displayed at its caller, with the path to it", async () => {
  const parent = createAgentTree(stage, [{ toolCalls: [createTaskCall("scout", "Look")] }], {
    scout: [{ text: "Seen." }],
  });
  stage.model.script({
    conversations: [
      {
        match: ({ conversation }) => conversation === parent.id,
        replies: [{ toolCalls: [createTaskCall("scout", "Look")] }],
      },
      { faults: [BUSY], replies: [{ text: "Seen." }] },
    ],
  });
  await parent.start("Go");
  const { retryingBelow } = await statusOf(parent.id, (status) => status.retryingBelow !== undefined);
  const child = await findChildSession(stage, parent);
  expect(retryingBelow).toMatchObject([
    { session: child.id, path: ["scout"], type: "call-model", attempt: 2 },
  ]);
  const { out } = await runCommandLine(stage, "status", parent.id);
  expect(out).toMatch(/scout \(.*\): call-model: scheduled, attempt 2 of 4, next in/);
  await parent.handle.terminate();
});
