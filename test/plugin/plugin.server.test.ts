import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client, Connection } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkerOptions,
} from "@temporalio/worker";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { type ConnectOptions, connect } from "../../src/client/connection/connect.ts";
import { createTestAgent } from "../../src/testing/test-agent.ts";
import { type HoldfastPluginOptions, holdfastPlugin } from "../../src/worker/plugin.ts";
import { createKeyEnvironment } from "../codec/key-environment.ts";
import { createStdioServer, MISBEHAVING_SERVER } from "../mcp/support/mcp-servers.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listTexts } from "../workflows/support/list-texts.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import {
  buildPluginOptions,
  bundleOwnWorkflows,
  CLASHING_WORKFLOWS,
  CONVERTER,
  type OwnWorker,
  startOwnWorker,
  WORKFLOWS,
} from "./support/own-worker.ts";

const KEYS = { keys: "k1=env:TEST_PLUGIN_A" };
const OTHER_KEYS = { keys: "k2=env:TEST_PLUGIN_B" };
Object.assign(process.env, createKeyEnvironment("TEST_PLUGIN_A", "TEST_PLUGIN_B"));

/** Bundling takes long on a busy machine. */
const BUNDLING_TIMEOUT_MS = 120_000;

let stage: TestEnvironment;
let connection: Connection;
beforeEach(async () => {
  stage = await openTestEnvironment({ worker: false });
});
afterEach(() => stage.close());
beforeAll(async () => {
  connection = await Connection.connect({ address: inject("temporal").address });
  await bundleOwnWorkflows();
}, BUNDLING_TIMEOUT_MS);
afterAll(() => connection.close());

/** Runs work while a worker of the application runs. */
async function withWorker(
  plugin: HoldfastPluginOptions,
  options: Partial<WorkerOptions>,
  work: (own: OwnWorker) => Promise<void>,
): Promise<void> {
  const own = await startOwnWorker(stage, plugin, options);
  try {
    await work(own);
  } finally {
    await own.stop();
  }
}

const connectWith = (options: ConnectOptions) =>
  connect({ taskQueue: stage.taskQueue, home: stage.home, ...options });

async function readHistory(client: Client, workflowId: string): Promise<string> {
  return listTexts(await client.workflow.getHandle(workflowId).fetchHistory()).join("\n");
}

describe("connect({ client })", () => {
  test("works with a client that exists, and leaves its connection open", async () => {
    await withWorker({}, { workflowBundle: undefined as never }, async () => {
      const session = stage.session({ replies: [{ text: "Hello" }] });
      const client = new Client({ connection, namespace: stage.namespace });
      const holdfast = await connectWith({ client });
      expect(holdfast.address).toBe(stage.address);
      const started = await holdfast.start({ agent: session.definition, prompt: "Hi", session: session.id });
      expect(await started.result()).toMatchObject({ text: "Hello" });
      await holdfast.close();
      expect((await client.workflow.getHandle(session.id).describe()).status.name).toBe("COMPLETED");
    });
  });

  test("rejects options that the client determines", async () => {
    const client = new Client({ connection, namespace: stage.namespace });
    await expect(connectWith({ client, address: stage.address })).rejects.toMatchObject({
      code: "configuration-invalid",
      message: expect.stringContaining("the option address"),
    });
  });

  thoroughTest("rejects a namespace that the server does not have", async () => {
    const client = new Client({ connection, namespace: "nowhere" });
    await expect(connectWith({ client })).rejects.toMatchObject({ code: "namespace-unknown" });
  });

  test("rejects a client that would send plain text, or has other keys", async () => {
    const plain = new Client({ connection, namespace: stage.namespace });
    await expect(connectWith({ client: plain, encryption: KEYS })).rejects.toMatchObject({
      code: "configuration-invalid",
      message: expect.stringContaining("holdfastPlugin()"),
    });
    const other = new Client({
      connection,
      namespace: stage.namespace,
      plugins: [holdfastPlugin({ encryption: OTHER_KEYS })],
    });
    await expect(connectWith({ client: other, encryption: KEYS })).rejects.toMatchObject({
      code: "key-mismatch",
    });
  });
});

describe("with encryption", () => {
  test("payloads of the agents and of the application's own workflows are encrypted", async () => {
    const plugin = holdfastPlugin({ encryption: KEYS });
    const client = new Client({ connection, namespace: stage.namespace, plugins: [plugin] });
    const agents = {
      triage: createTestAgent(stage.model, { name: "triage", workspace: stage.home, output: TRIAGE }),
    };
    stage.model.script({
      replies: [{ toolCalls: [{ name: "final_answer", arguments: { severity: "PLAINMARKER" } }] }],
    });
    const activities = { greet: async () => "PLAINMARKER greets" };
    await withWorker({ encryption: KEYS, agents }, { activities }, async () => {
      const run = await client.workflow.start("triage", {
        args: ["triage"],
        taskQueue: stage.taskQueue,
        workflowId: `encrypted-${stage.taskQueue}`,
      });
      const said = (await run.result()) as string;
      expect(said).toMatch(/^PLAINMARKER greets: PLAINMARKER in /);
      const [, session = ""] = said.split(" in ");
      for (const id of [run.workflowId, session]) {
        const history = await readHistory(stage.client, id);
        expect(history).not.toContain("PLAINMARKER");
        expect(history).toContain("binary/encrypted");
      }
      const holdfast = await connectWith({ client, encryption: KEYS });
      expect((await holdfast.session(session).status()).outcome).toMatchObject({ type: "answered" });
      await holdfast.close();
      await expect(connectWith({ client: stage.client })).rejects.toMatchObject({ code: "key-mismatch" });
    });
  });

  thoroughTest("failures are encrypted, those of the application's own workflows too", async () => {
    const plugin = holdfastPlugin({ encryption: KEYS });
    const client = new Client({ connection, namespace: stage.namespace, plugins: [plugin] });
    const activities = {
      failPlainly: async () => {
        throw new Error("PLAINMARKER failed");
      },
    };
    await withWorker({ encryption: KEYS }, { activities }, async () => {
      const run = await client.workflow.start("callFailing", {
        args: ["an argument, which is encrypted"],
        taskQueue: stage.taskQueue,
        workflowId: `failing-${stage.taskQueue}`,
      });
      const failure = await run.result().catch((error) => error);
      expect(failure.cause.cause.message).toBe("PLAINMARKER failed");
      expect(await readHistory(stage.client, run.workflowId)).not.toContain("PLAINMARKER");
    });
  });

  test("a failure converter of the application, which would store plain text, is rejected", async () => {
    const failureConverterPath = WORKFLOWS;
    await expect(
      startOwnWorker(stage, { encryption: KEYS }, { dataConverter: { failureConverterPath } }),
    ).rejects.toThrow(/does not encrypt their texts/);
  });
});

const TRIAGE = {
  type: "json-schema" as const,
  schema: {
    type: "object",
    properties: { severity: { type: "string" } },
    required: ["severity"],
    additionalProperties: false,
  },
};

describe("Worker.create", () => {
  test("rejects activities that have the name of one of Holdfast's, or of a tool", async () => {
    const work = async () => undefined;
    await expect(startOwnWorker(stage, {}, { activities: { "call-model": work } })).rejects.toThrow(
      'This worker has an activity "call-model", which is also an activity of Holdfast. Rename yours.',
    );
    await expect(startOwnWorker(stage, {}, { activities: { bash: work } })).rejects.toThrow(
      /an activity "bash", which is also a tool of Holdfast.*builtInTools: false/,
    );
  });

  thoroughTest("rejects workflows that have the name of one of Holdfast's", async () => {
    await expect(
      startOwnWorker(stage, {}, { workflowBundle: undefined as never, workflowsPath: CLASHING_WORKFLOWS }),
    ).rejects.toThrow(/exports pipeline, which is a workflow of Holdfast/);
  });

  thoroughTest(
    "bundles a payload converter of the application, and Holdfast's workflows still ignore what it cannot decode",
    async () => {
      const dataConverter = { payloadConverterPath: CONVERTER };
      const options = { workflowBundle: undefined as never, workflowsPath: WORKFLOWS, dataConverter };
      await withWorker({}, options, async () => {
        const session = stage.session({ replies: [{ text: "converted" }] });
        // A signal that an operator typed by hand, and that is not JSON.
        await stage.client.connection.workflowService.signalWithStartWorkflowExecution({
          namespace: stage.namespace,
          workflowId: session.id,
          workflowType: { name: "agent" },
          taskQueue: { name: stage.taskQueue },
          requestId: session.id,
          input: {
            payloads: [defaultPayloadConverter.toPayload({ definition: session.definition, prompt: "Hi" })],
          },
          signalName: "steer",
          signalInput: {
            payloads: [{ metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from("{not JSON") }],
          },
        });
        expect(await session.readResult()).toMatchObject({ text: "converted" });
        const { events } = await session.handle.fetchHistory();
        const result = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0];
        expect(Buffer.from(result?.metadata?.["converted-by"] ?? []).toString()).toBe("the application");
      });
    },
  );

  thoroughTest(
    "rejects a bundle that was built without the plugin, and accepts one that was built with it",
    async () => {
      const logger = new DefaultLogger("ERROR");
      const without = await bundleWorkflowCode({ workflowsPath: CLASHING_WORKFLOWS, logger });
      await expect(startOwnWorker(stage, {}, { workflowBundle: without })).rejects.toThrow(
        /does not contain Holdfast's workflows/,
      );
      await withWorker({}, { workflowBundle: await bundleOwnWorkflows() }, async () => {
        const session = stage.session({ replies: [{ text: "from the bundle" }] });
        expect(await session.run("Hi")).toMatchObject({ text: "from the bundle" });
      });
    },
  );

  test("rejects an agent whose definition is not valid", async () => {
    await expect(startOwnWorker(stage, { agents: { half: {} as never } })).rejects.toThrow(
      /The agent "half" of holdfastPlugin\(\) is not valid/,
    );
  });

  thoroughTest("accepts the plugin from the connection, and from worker and connection at once", async () => {
    const plugin = holdfastPlugin(buildPluginOptions(stage, {}));
    const native = await NativeConnection.connect({ address: stage.address, plugins: [plugin] });
    const worker = await Worker.create({
      connection: native,
      namespace: stage.namespace,
      taskQueue: stage.taskQueue,
      shutdownGraceTime: "1 second",
      plugins: [plugin],
    });
    const session = stage.session({ replies: [{ text: "once" }] });
    await worker.runUntil(async () => {
      expect(await session.run("Hi")).toMatchObject({ text: "once" });
    });
    await native.close();
  });
});

thoroughTest("a tool of a server, whose name no worker knows, is called through `call-tool`", async () => {
  const server = createStdioServer(MISBEHAVING_SERVER, {}, { name: "nasty", include: ["ok"], trusted: true });
  const session = stage.session({
    agent: { mcp: [server] },
    replies: [{ toolCalls: [{ name: "nasty__ok", arguments: {} }] }, { text: "used" }],
  });
  await withWorker({}, {}, async () => {
    expect(await session.run("Use it")).toMatchObject({ text: "used" });
    const { events } = await session.handle.fetchHistory();
    const activities = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? [],
    );
    expect(activities).toEqual(["open-loop", "call-model", "call-tool", "call-model", "close-loop"]);
    const results = (await session.readEntries()).flatMap(({ message }) =>
      message.role === "toolResult" ? [message.isError] : [],
    );
    expect(results).toEqual([false]);
  });
});

thoroughTest(
  "a worker that cannot open its store fails with the reason, and its connection can be closed",
  async () => {
    const home = join(stage.home, "a-file");
    writeFileSync(home, "no folder");
    const run = async () => (await startOwnWorker(stage, { home })).stop();
    await expect(run()).rejects.toThrow(/a-file/);
  },
);

thoroughTest("a worker that has ended has closed its stores, and not those that it was given", async () => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-plugin-"));
  const closed: string[] = [];
  const transcript = new Proxy(stage.transcript, {
    get: (target, name) => {
      if (name === "close") return async () => void closed.push("given");
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  await withWorker({ home }, {}, async () => undefined);
  await withWorker({ home, transcript }, {}, async () => undefined);
  expect(closed).toEqual([]);
  const listOpen = () => {
    collectGarbage();
    return readdirSync("/proc/self/fd")
      .map((fd) => readLink(`/proc/self/fd/${fd}`))
      .filter((path) => path.startsWith(home));
  };
  // SQLite keeps the files of a closed connection until its statements are collected. A store that was not closed keeps a
  // thread, whose connection no collection ends.
  const collectGarbage = () => (runInNewContext("gc") as () => void)();
  setFlagsFromString("--expose-gc");
  await expect.poll(listOpen).toEqual([]);
  rmSync(home, { recursive: true, force: true });
});

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
