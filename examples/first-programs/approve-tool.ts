// A tool that pays money back, and asks first.
import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import { anthropic, connect } from "holdfast";
import { createWorker, defineTool } from "holdfast/worker";
import { z } from "zod";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back",
  inputSchema: z.object({ order: z.string(), cents: z.number().int().positive() }),
  needsApproval: true,
  replay: "idempotent",
  execute: ({ order, cents }, { idempotencyKey }) => {
    console.log(`\n[bank] ${cents} cents for order ${order}, once for the key ${idempotencyKey}`);
    return "paid";
  },
});

const worker = await createWorker({ tools: [refund] });
const working = worker.run();
const holdfast = await connect();
const terminal = createInterface({ input: stdin, output: stdout });

const session = await holdfast.start({
  agent: { model: anthropic("claude-sonnet-4-5"), tools: ["refund"] },
  prompt: "Order A-17 arrived broken. Pay its 1250 cents back.",
});
for await (const event of session) {
  if (event.type === "text-delta") stdout.write(event.text);
  if (event.type === "tool-approval-request") {
    const answer = await terminal.question(
      `Run ${event.toolName} with ${JSON.stringify(event.input)}? [y/n] `,
    );
    if (answer === "y") await session.approvals.approve(event.toolCallId);
    else await session.approvals.deny(event.toolCallId, { reason: "The shopkeeper says no." });
  }
}

terminal.close();
worker.shutdown();
await Promise.all([working, holdfast.close()]);
