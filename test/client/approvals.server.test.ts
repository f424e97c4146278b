import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { main } from "../../src/apps/cli/program.ts";
import { type Holdfast, HoldfastError } from "../../src/client/index.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { createTerminal } from "../cli/terminal.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient, formatConnectionOptions, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import type { TestSession } from "../workflows/support/test-session.ts";

/** What was executed, in order. */
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

/** Requires approval for each call, whatever the policy says. */
const wire = defineTool({
  name: "wire",
  description: "Wires money",
  inputSchema: z.object({ to: z.string() }),
  replay: "idempotent",
  needsApproval: true,
  execute: async ({ to }) => `wired to ${to}`,
});

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [pay, wire] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const cli = (...args: readonly string[]) => runCommandLine(stage, ...args);

/** A run whose calls all await approval: one payment for each name. */
async function asking(...payees: readonly string[]): Promise<TestSession> {
  const toolCalls = payees.map((to) => ({ id: `call-${to}`, name: "pay", arguments: { to } }));
  const session = stage.session({
    replies: [{ toolCalls }, { text: "Well." }],
    agent: { tools: ["pay"], permissions: { otherwise: "ask" } },
  });
  await session.start("Pay them");
  await expect
    .poll(
      () =>
        holdfast
          .session(session.id)
          .approvals.list()
          .catch(() => []),
      POLL,
    )
    .toHaveLength(payees.length);
  return session;
}
const POLL = { timeout: 15_000, interval: 20 };

async function results(session: TestSession): Promise<readonly string[]> {
  return (await session.readConversation()).filter((line) => line.startsWith("toolResult"));
}

thoroughTest(
  "client and command line answer pending calls, each with its own answer [TMP-11.1]",
  async () => {
    const session = await asking("ann", "bob", "cleo");
    const status = await holdfast.session(session.id).status();
    expect(status).toMatchObject({
      status: "needs-approval",
      statusText: expect.stringContaining("pay: ann"),
    });
    const [first] = await holdfast.session(session.id).approvals.list();
    expect(first).toMatchObject({
      toolCallId: "call-ann",
      tool: "pay",
      summary: "ann",
      arguments: { to: "ann" },
    });

    const shown = await cli("status", session.id);
    expect(shown.out).toContain("needs-approval");
    expect(shown.out).toMatch(/waits +pay: ann\n.*reason .*\n.*since .*until it is answered/);
    expect(shown.out).toContain(`holdfast deny ${session.id} call-bob --address`);

    await expect(holdfast.session(session.id).approvals.approve()).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("call-bob"),
    });
    expect(
      await holdfast.session(session.id).approvals.approve("call-ann", { by: "a person" }),
    ).toMatchObject({
      tool: "pay",
      waiting: 2,
    });
    const denied = await cli("deny", session.id, "call-bob", "--reason", "owes us", "--json");
    expect({ ...denied, out: JSON.parse(denied.out) }).toMatchObject({
      code: 0,
      out: { answer: "denied", toolCallId: "call-bob", tool: "pay", waiting: 1 },
    });
    const changed = await cli("approve", session.id, "--arguments", '{"to":"dora"}');
    expect(changed).toMatchObject({ code: 0, out: "approved with other arguments: pay\n" });

    await session.readResult();
    expect(await results(session)).toEqual([
      "toolResult: paid ann",
      "toolResult: Denied by the user: owes us",
      "toolResult: paid dora",
    ]);
    expect(done.splice(0)).toEqual(["ann", "dora"]);
    const answers = (await session.readEvents()).flatMap(({ body }) =>
      "permission" in body ? [body.permission] : [],
    );
    expect(answers).toContainEqual(expect.objectContaining({ answer: "approved", by: "a person" }));
  },
);

thoroughTest(
  "an answer while nothing is pending is rejected, and the error says what to inspect",
  async () => {
    const session = await asking("eve");
    const wrong = await cli("approve", session.id, "call-nobody", "--json");
    expect(wrong.code).toBe(2);
    expect(JSON.parse(wrong.out)).toMatchObject({ code: "approval-unknown", session: session.id });
    expect(wrong.err).toContain(`holdfast status ${session.id}`);
    const { code } = await cli("deny", session.id);
    expect(code).toBe(0);
    await session.readResult();
    for (const late of [
      () => holdfast.session(session.id).approvals.deny(),
      () => holdfast.session(session.id).approvals.approve("call-eve"),
    ]) {
      await expect(late()).rejects.toMatchObject({
        code: "approval-unknown",
        message: expect.stringContaining("is idle"),
      });
    }
    const unknown = await cli("approve", "no-such-session");
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("There is no session") });
    const long = await holdfast
      .session(session.id)
      .approvals.deny(undefined, { reason: "x".repeat(40_000) })
      .catch((e) => e);
    expect(long).toBeInstanceOf(HoldfastError);
    expect(long.code).toBe("input-too-large");
  },
);

thoroughTest(
  "chat asks for approvals inline, one after the other, and sees answers given elsewhere",
  async () => {
    const session = await asking("fred", "gina", "hugo");
    const { streams, said } = createTerminal({ isTTY: true });
    const chatting = main(["chat", "--session", session.id, ...formatConnectionOptions(stage)], streams);
    await expect.poll(() => said.out, POLL).toContain("approve? y/n/a/e > ");
    expect(said.out).toContain('"to": "fred"');
    expect(said.out).not.toContain('"to": "gina"');
    streams.stdin.write("y\r");
    await expect.poll(() => said.out, POLL).toContain('"to": "gina"');
    await holdfast.session(session.id).approvals.approve("call-gina");
    await expect.poll(() => said.out, POLL).toContain("No longer waiting: pay: gina");
    await expect.poll(() => said.out, POLL).toContain('"to": "hugo"');
    streams.stdin.write("\u0003");
    await expect.poll(() => said.out, POLL).toContain(`holdfast approve ${session.id} call-hugo`);
    streams.stdin.write("/approvals\r");
    await expect.poll(() => said.out.split('"to": "hugo"').length, POLL).toBe(3);
    streams.stdin.write("n he is away\r");
    await session.readResult();
    await expect.poll(() => said.out, POLL).toContain("Well.");
    streams.stdin.write("/quit\r");
    await chatting;
    expect(said.out).toContain("Well.");
    expect(await results(session)).toEqual([
      "toolResult: paid fred",
      "toolResult: paid gina",
      "toolResult: Denied by the user: he is away",
    ]);
  },
);

test("a waiting run is reported once, with the command that answers it, and then continues", async () => {
  const id = `run-${stage.taskQueue}`;
  stage.model.script({
    conversations: [
      {
        match: ({ firstUserText }) => firstUserText.startsWith("Wire it"),
        replies: [
          { toolCalls: [{ id: "call-kim", name: "wire", arguments: { to: "kim" } }] },
          { text: "Wired." },
        ],
      },
    ],
  });
  const { streams, said } = createTerminal();
  const model = ["--model", "local/test-model", "--base-url", stage.model.openaiBaseUrl, "--tools", "wire"];
  const running = main(
    ["run", "Wire it", "--session", id, ...model, ...formatConnectionOptions(stage)],
    streams,
  );
  await expect.poll(() => said.err, POLL).toContain("Waits for approval: wire");
  expect(said.err).toContain(`yes: holdfast approve ${id} call-kim --address`);
  // The server's list of open runs is late by a moment.
  await expect.poll(async () => (await cli("list", "--status", "needs-approval")).out, POLL).toContain(id);
  expect(await cli("approve", id, "call-kim", "--always")).toMatchObject({ code: 0 });
  expect({ code: await running, ...said }).toMatchObject({ code: 0, out: expect.stringContaining("Wired.") });
  expect(said.err.split("Waits for approval").length).toBe(2);
});

test("compact works in an open run, or in a loop of its own when the session is idle; a long focus is rejected [CMP-13.3]", async () => {
  const session = await asking("ivy");
  expect(await cli("compact", session.id, "--focus", "the payments")).toMatchObject({ code: 0 });
  expect(await holdfast.session(session.id).compact()).toEqual({ by: "open-run" });
  await expect(holdfast.session(session.id).compact({ focus: "x".repeat(3_000) })).rejects.toMatchObject({
    code: "input-too-large",
  });
  await holdfast.session(session.id).approvals.approve();
  await session.readResult();
  const { events } = await session.handle.fetchHistory();
  const focuses = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    signal?.signalName === "compact"
      ? [JSON.parse(Buffer.from(signal.input?.payloads?.[0]?.data ?? []).toString())]
      : [],
  );
  expect(focuses).toEqual([{ focus: "the payments" }, {}]);
  expect(await holdfast.session(session.id).compact()).toMatchObject({ by: "own-loop" });
  await holdfast.session(session.id).result();
  expect(
    (await holdfast.session(session.id).record()).storedLoops.at(-1)?.events.map(({ body }) => body.type),
  ).toEqual(["AgentStart", "AgentEnd"]);
  expect(await cli("compact", session.id)).toMatchObject({
    code: 0,
    out: expect.stringContaining("nothing to compact"),
  });
  await expect(holdfast.session("no-such-session").compact()).rejects.toMatchObject({
    code: "session-unknown",
  });
});
