// Creates and starts the agents of the benchmarks.
import { randomUUID } from "node:crypto";
import { buildStartAttributes } from "../dist/client/runs/run-labels.js";

/**
 * Creates a definition with the benchmark worker's own model: it calls `tool` until there are `turns` answers, `calls`
 * times in each, with the task if one is given, and takes `answerMs` for an answer.
 */
export function createNullAgent({
  turns,
  tool,
  baseUrl = "http://127.0.0.1:9",
  calls = 1,
  task,
  answerMs = 0,
}) {
  return {
    name: "bench",
    systemPrompt: JSON.stringify({ turns, tool, calls, task, answerMs }),
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

/** Starts an agent as the client does. */
export function startAgent(client, definition, prompt = "go", taskQueue = "agents") {
  const workflowId = randomUUID();
  return client.workflow.start("agent", {
    taskQueue,
    workflowId,
    workflowTaskTimeout: "5s",
    typedSearchAttributes: buildStartAttributes(workflowId, definition),
    args: [{ prompt, definition }],
  });
}

/** Starts an evaluation that selects the first agent, without a prompt that a model would read. */
export function startEvaluation(client, agents) {
  const workflowId = randomUUID();
  return client.workflow.start("evaluation", {
    taskQueue: "agents",
    workflowId,
    workflowTaskTimeout: "5s",
    typedSearchAttributes: buildStartAttributes(workflowId),
    args: [{ prompt: "go", agents, strategy: { type: "pick-first" } }],
  });
}

export function startBare(client, turns) {
  return client.workflow.start("bare", { taskQueue: "bare", workflowId: randomUUID(), args: [turns] });
}

export function startPlainTree(client, request) {
  const workflowId = randomUUID();
  return client.workflow.start("plainTree", {
    taskQueue: "plain",
    workflowId,
    workflowTaskTimeout: "5s",
    args: [request],
  });
}
