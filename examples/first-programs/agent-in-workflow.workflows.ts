// The workflow of agent-in-workflow.ts: an activity of one's own, then an agent.
import { proxyActivities } from "@temporalio/workflow";
import { executeAgent } from "holdfast/workflows";
import type { Activities } from "./agent-in-workflow.js";

const { readTicket, sendReply } = proxyActivities<Activities>({ startToCloseTimeout: "1 minute" });

export async function answerTicket(id: string): Promise<string> {
  const ticket = await readTicket(id);
  const { output } = await executeAgent<{ reply: string; urgent: boolean }>({
    agent: "support",
    prompt: ticket,
  });
  if (output === undefined) throw new Error("The agent did not answer.");
  await sendReply(id, output.reply);
  return output.urgent ? "urgent" : "normal";
}
