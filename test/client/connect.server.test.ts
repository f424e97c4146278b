import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { type ConnectOptions, connect } from "../../src/client/connection/connect.ts";
import type { Holdfast } from "../../src/client/holdfast.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import { thoroughTest } from "../support/test-depth.ts";

const server = inject("temporal");
const agent = { model: anthropic("some-model") };

let home: string;
const undo: (() => unknown)[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-client-"));
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await rm(home, { recursive: true, force: true });
});

async function open(options: ConnectOptions = {}): Promise<Holdfast> {
  const { address, namespace } = server;
  const holdfast = await connect({ address, namespace, home, taskQueue: `none-${randomUUID()}`, ...options });
  undo.push(() => holdfast.close());
  return holdfast;
}

/** A namespace of its own, without Holdfast's search attributes. */
async function bareNamespace(): Promise<string> {
  const namespace = `bare-${randomUUID().slice(0, 8)}`;
  const connection = await Connection.connect({ address: server.address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await expect
    .poll(() =>
      connection.workflowService.describeNamespace({ namespace }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await connection.close();
  return namespace;
}

test("an address where nothing listens: the error gives the address, the cause and what to do", async () => {
  const closed = createServer();
  const port = await new Promise<number>((resolve) => {
    closed.listen(0, "127.0.0.1", () => resolve((closed.address() as { port: number }).port));
  });
  await new Promise((resolve) => closed.close(resolve));
  await expect(connect({ address: `127.0.0.1:${port}`, home })).rejects.toMatchObject({
    code: "unreachable",
    facts: { address: `127.0.0.1:${port}`, command: "holdfast dev" },
    message: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${port}.*ECONNREFUSED.*holdfast dev`)),
  });
});

thoroughTest(
  "a listener that is no Temporal server is reported as unreachable within the timeout",
  async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined));
    const sockets = new Set<{ destroy(): void }>();
    silent.on("connection", (socket) => sockets.add(socket));
    undo.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => silent.close(resolve));
    });
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, "127.0.0.1", () => resolve((silent.address() as { port: number }).port));
    });
    await expect(
      connect({ address: `127.0.0.1:${port}`, home, connectTimeoutMs: 1_000 }),
    ).rejects.toMatchObject({ code: "unreachable" });
  },
);

test("a wrong namespace: the error lists the existing ones, and the command that creates one", async () => {
  await expect(open({ namespace: "nosuch" })).rejects.toMatchObject({
    code: "namespace-unknown",
    facts: { namespaces: expect.arrayContaining([server.namespace]), address: server.address },
    message: expect.stringMatching(/nosuch.*It has: .*default.*namespace create/),
  });
});

thoroughTest("connecting opens nothing on this machine", async () => {
  const folder = join(home, "not-yet");
  const holdfast = await open({ home: folder });
  expect(
    await holdfast
      .session("nosuch")
      .status()
      .catch((error) => error.code),
  ).toBe("session-unknown");
  await expect(stat(folder)).rejects.toMatchObject({ code: "ENOENT" });
});

test("missing search attributes are rejected before the start, with the command; once registered, the session starts", async () => {
  const namespace = await bareNamespace();
  const holdfast = await open({ namespace });
  const start = () => holdfast.start({ agent, prompt: "hello", session: `s-${namespace}` });
  await expect(start()).rejects.toMatchObject({
    code: "search-attributes-missing",
    facts: { missing: expect.arrayContaining(["HoldfastStatus"]), namespace },
    message: expect.stringMatching(/holdfast doctor --fix.*--name HoldfastStatus --type Keyword/),
  });
  await expect(holdfast.session(`s-${namespace}`).status()).rejects.toMatchObject({
    code: "session-unknown",
  });
  const without = await open({ namespace, searchAttributes: false });
  expect((await without.start({ agent, prompt: "hello", session: `t-${namespace}` })).runId).toBeDefined();
  const { attributes } = await holdfast.health({ register: true });
  expect(attributes).toMatchObject({ missing: [] });
  expect((await start()).id).toBe(`s-${namespace}`);
});

test("a session with an open run rejects a second start, with the text that the requirements quote", async () => {
  const holdfast = await open();
  const session = await holdfast.start({ agent, prompt: "hello" });
  await expect(holdfast.start({ agent, prompt: "again", session: session.id })).rejects.toMatchObject({
    code: "session-busy",
    message: expect.stringContaining("Agent is already streaming. Use steer() or follow_up()."),
    facts: { session: session.id },
  });
});

test("invalid input is reported before anything is started", async () => {
  const holdfast = await open();
  const session = `s-${randomUUID()}`;
  const bad = [
    holdfast.start({ agent: { ...agent, tols: [] } as never, prompt: "x", session }),
    holdfast.start({ agent: { ...agent, workspace: "/no/such" }, prompt: "x", session }),
    holdfast.start({ agent, prompt: "x".repeat(10 * 1024 * 1024 + 1), session }),
    holdfast.start({ agent, session }),
    holdfast.start({ agent, session, mode: "interactive", idleTimeoutMs: -1 }),
  ];
  const codes = (await Promise.allSettled(bad)).map((one) =>
    one.status === "rejected" ? one.reason.code : "started",
  );
  expect(codes).toEqual([
    "definition-invalid",
    "workspace-invalid",
    "input-too-large",
    "input-invalid",
    "input-invalid",
  ]);
  await expect(holdfast.session(session).status()).rejects.toMatchObject({ code: "session-unknown" });
});

thoroughTest(
  "without a worker, status shows what the server knows, and a terminated run has no result",
  async () => {
    const holdfast = await open();
    const session = await holdfast.start({ agent: { ...agent, name: "waiter" }, prompt: "hello" });
    expect(await session.status()).toMatchObject({
      status: "running",
      source: "server",
      open: true,
      agent: "waiter",
      model: "some-model",
    });
    const connection = await Connection.connect({ address: server.address });
    undo.push(() => connection.close());
    await connection.workflowService.terminateWorkflowExecution({
      namespace: server.namespace,
      workflowExecution: { workflowId: session.id },
      reason: "for the test",
    });
    await expect(session.result()).rejects.toMatchObject({ code: "run-terminated" });
    expect(await session.status()).toMatchObject({ status: "stopped", open: false });
  },
);

thoroughTest("a long prompt is stored, and travels as its hash", async () => {
  const holdfast = await open();
  const prompt = "long ".repeat(10_000);
  const session = await holdfast.start({ agent, prompt });
  const connection = await Connection.connect({ address: server.address });
  undo.push(() => connection.close());
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: server.namespace,
    execution: { workflowId: session.id },
  });
  const input = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
  const request = JSON.parse(Buffer.from(input ?? []).toString());
  expect(request.prompt).toEqual({ id: expect.any(String), ref: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

thoroughTest("stop and steer distinguish a session that never existed from an idle one", async () => {
  const holdfast = await open();
  await expect(holdfast.session("nosuch").stop()).rejects.toMatchObject({ code: "session-unknown" });
  await expect(holdfast.session("nosuch").prompt("hello")).rejects.toMatchObject({ code: "session-unknown" });
  await expect(holdfast.session("nosuch").messages.list()).rejects.toMatchObject({ code: "session-unknown" });
});
