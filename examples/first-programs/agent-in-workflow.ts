// An agent inside a workflow of one's own, in a Temporal worker of one's own.
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { anthropic, zodOutput } from "holdfast";
import { holdfastPlugin } from "holdfast/plugin";
import { z } from "zod";
import type { answerTicket } from "./agent-in-workflow.workflows.js";

const support = {
  name: "support",
  model: anthropic("claude-sonnet-4-5"),
  systemPrompt: "You answer tickets of customers.",
  output: zodOutput(z.object({ reply: z.string(), urgent: z.boolean() })),
};

const activities = {
  readTicket: async (id: string) => `Ticket ${id}: I cannot log in since this morning.`,
  sendReply: async (id: string, reply: string) => console.log(`[mail] ${id}: ${reply}`),
};
export type Activities = typeof activities;

const address = process.env["TEMPORAL_ADDRESS"] ?? "localhost:7233";
const namespace = process.env["TEMPORAL_NAMESPACE"] ?? "default";

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue: "tickets",
  workflowsPath: fileURLToPath(new URL("agent-in-workflow.workflows.js", import.meta.url)),
  activities,
  plugins: [holdfastPlugin({ agents: { support } })],
});
await worker.runUntil(async () => {
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  const urgency = await client.workflow.execute<typeof answerTicket>("answerTicket", {
    args: ["T-1"],
    taskQueue: "tickets",
    workflowId: `ticket-${Date.now()}`,
  });
  console.log("urgency:", urgency);
  await client.connection.close();
});
