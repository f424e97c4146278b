// Starting agents of the benchmarks.
import { randomUUID } from "node:crypto";

/** A definition whose model is the worker's own: it calls `tool` until there are `turns` answers. */
export function nullAgent({ turns, tool, baseUrl = "http://127.0.0.1:9" }) {
  return {
    name: "bench",
    systemPrompt: JSON.stringify({ turns, tool }),
    model: {
      id: "null",
      api: "anthropic_messages",
      provider: "null",
      baseUrl,
      contextWindow: 200_000,
      cost: { input: 3, output: 15 },
    },
    tools: [tool],
    limits: { maxTurns: null, maxTotalTokens: null, maxDurationMs: null },
  };
}

export function startAgent(client, definition, prompt = "go", taskQueue = "agents") {
  return client.workflow.start("agent", {
    taskQueue,
    workflowId: randomUUID(),
    workflowTaskTimeout: "5s",
    args: [{ prompt, definition }],
  });
}

export function startBare(client, turns) {
  return client.workflow.start("bare", { taskQueue: "bare", workflowId: randomUUID(), args: [turns] });
}
