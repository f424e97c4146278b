// The application's workflow. It charges a card and sends a letter with activities of its own; an agent writes the letter.
import { defineUpdate, proxyActivities, setHandler } from "@temporalio/workflow";
import { startAgent } from "holdfast/workflows";

const { chargeCard, sendLetter } = proxyActivities({ startToCloseTimeout: "1 minute" });

/** Accepts what the customer writes while the agent works. */
export const customerWrites = defineUpdate("customerWrites");

export async function handleOrder(order) {
  const receipt = await chargeCard(order);
  const clerk = await startAgent({
    agent: "clerk",
    prompt: `Write a letter about this order: ${order.item}, to ${order.customer}. Look up when it leaves the store.`,
  });
  setHandler(customerWrites, (text) => clerk.steer(text));
  const { output } = await clerk.result();
  await sendLetter(order, output.letter);
  return { receipt, session: clerk.session, ...output };
}
