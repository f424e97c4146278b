// The application's worker: Temporal's own `Worker` with the application's workflow and activities, and a plugin by which it
// also runs agents. main.mjs starts it in a process of its own, and kills it.
import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { anthropic } from "holdfast";
import { holdfastPlugin } from "holdfast/plugin";
import { defineTool } from "holdfast/tool";
import { z } from "zod";

const { ADDRESS, NAMESPACE, TASK_QUEUE, HOME_FOLDER, LEDGER, MODEL_URL } = process.env;
Runtime.install({ logger: new DefaultLogger("ERROR") });

const note = (line) => appendFileSync(LEDGER, `${line}\n`);

const departureDay = defineTool({
  name: "departure_day",
  description: "Says on which day an item leaves the store",
  inputSchema: z.object({ item: z.string() }),
  execute: ({ item }) => {
    note(`looked up ${item}`);
    return "Thursday";
  },
});

const clerk = {
  name: "clerk",
  systemPrompt:
    "You write short letters to customers. Your answer is the letter, and the day on which the item leaves.",
  model: anthropic("claude-sonnet-4-5", MODEL_URL === undefined ? {} : { baseUrl: MODEL_URL }),
  tools: ["departure_day"],
  output: {
    type: "json-schema",
    schema: {
      type: "object",
      properties: { letter: { type: "string" }, day: { type: "string" } },
      required: ["letter", "day"],
      additionalProperties: false,
    },
  },
};

const connection = await NativeConnection.connect({ address: ADDRESS });
const worker = await Worker.create({
  connection,
  namespace: NAMESPACE,
  taskQueue: TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL("workflows.mjs", import.meta.url)),
  activities: {
    chargeCard: async ({ customer }) => {
      note(`charged ${customer}`);
      return `receipt for ${customer}`;
    },
    sendLetter: async ({ customer }) => note(`wrote to ${customer}`),
  },
  plugins: [
    holdfastPlugin({ home: HOME_FOLDER, agents: { clerk }, tools: [departureDay], builtInTools: false }),
  ],
});
await worker.run();
await connection.close();
