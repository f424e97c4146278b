// A test of an agent: a real Temporal server and worker, and a model that says what the test tells it. No key, no network.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "holdfast";
import { createTestAgent, startModelServer, startTestServer, TEST_KEY_NAME } from "holdfast/testing";
import { createWorker, defineTool } from "holdfast/worker";
import { z } from "zod";

process.env[TEST_KEY_NAME] = "any";

test("the clerk looks into the store before it answers", async () => {
  const lookedUp: string[] = [];
  const stock = defineTool({
    name: "stock",
    description: "Says how many of an item are in stock",
    inputSchema: z.object({ item: z.string() }),
    replay: "pure",
    execute: ({ item }) => {
      lookedUp.push(item);
      return "3 left";
    },
  });

  const home = await mkdtemp(join(tmpdir(), "clerk-"));
  const server = await startTestServer();
  const model = await startModelServer({
    replies: [
      { toolCalls: [{ name: "stock", arguments: { item: "lamp" } }] },
      { text: "We have three lamps." },
    ],
  });
  const target = { address: server.address, namespace: server.namespace, home };
  const worker = await createWorker({ ...target, tools: [stock] });
  const working = worker.run();
  const holdfast = await connect(target);

  const session = await holdfast.start({
    agent: createTestAgent(model, { tools: ["stock"] }),
    prompt: "Do you have lamps?",
  });
  const { outcome, text } = await session.result();

  assert.equal(outcome.type, "answered");
  assert.equal(text, "We have three lamps.");
  assert.deepEqual(lookedUp, ["lamp"]);
  assert.equal(model.answersPaid(), 2);

  worker.shutdown();
  await Promise.all([working, holdfast.close(), model.stop()]);
  await server.stop();
  await rm(home, { recursive: true });
});
