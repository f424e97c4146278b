// A worker as in production, except that this process provides the model's answers, and tools that do nothing.
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { z } from "zod";
import { createWorker, defineTool } from "../dist/worker.js";

const { values } = parseArgs({
  options: {
    address: { type: "string" },
    namespace: { type: "string" },
    home: { type: "string" },
    "task-queue": { type: "string", default: "agents" },
    /** Other workflows than Holdfast's, with the same activities. */
    workflows: { type: "string" },
  },
});

const USAGE = { input: 100, output: 10, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 110 };

/** A model that calls the system prompt's tool until the number of answers is reached, then gives a final answer. */
const nullModel = {
  id: "null",
  protocol: "anthropic_messages",
  async stream({ systemPrompt, messages }) {
    const { turns, tool, calls, task, answerMs } = JSON.parse(systemPrompt);
    const answered = messages.filter(({ role }) => role === "assistant").length;
    const last = answered + 1 >= turns;
    if (answerMs > 0) await sleep(answerMs);
    return {
      role: "assistant",
      content: last
        ? [{ type: "text", text: "done" }]
        : Array.from({ length: calls }, (_, nth) => ({
            type: "toolCall",
            id: `call_${answered}_${nth}`,
            name: tool,
            arguments: task === undefined ? { n: answered } : { task },
          })),
      stopReason: last ? "stop" : "toolUse",
      model: "null",
      provider: "null",
      usage: USAGE,
      timestamp: Date.now(),
    };
  },
};

const createNoopTool = (name, replay, quick) =>
  defineTool({
    name,
    description: "Does nothing",
    inputSchema: z.object({ n: z.number() }),
    replay,
    quick,
    execute: () => "ok",
  });

function resolveBundled(file) {
  const logger = new DefaultLogger("ERROR");
  return bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL(file, import.meta.url)), logger });
}

const worker = await createWorker({
  address: values.address,
  namespace: values.namespace,
  home: values.home,
  taskQueue: values["task-queue"],
  ...(values.workflows === undefined
    ? {}
    : { temporal: { workflowBundle: await resolveBundled(values.workflows) } }),
  providers: process.env.BENCH_HTTP === "1" ? [] : [nullModel],
  tools: [createNoopTool("null_unsafe", "unsafe", false), createNoopTool("null_pure", "pure", true)],
});
const running = worker.run();
process.stdout.write(`${JSON.stringify({ type: "ready", pid: process.pid })}\n`);
await running;
