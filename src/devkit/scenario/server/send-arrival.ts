import type { WorkflowHandle } from "@temporalio/client";
import {
  approveUpdate,
  clearQueuesSignal,
  compactSignal,
  followUpSignal,
  promptUpdate,
  queueModeSignal,
  raiseLimitsUpdate,
  statusQuery,
  steerSignal,
  stopSignal,
} from "../../../workflows/messages.ts";
import { buildApprovalInput } from "../approval-input.ts";
import type { SentArrival } from "../play-result.ts";

/** Sends a user's action, and resolves when the run has accepted it, or with the text of the rejection. */
export async function sendArrival(handle: WorkflowHandle, sent: SentArrival): Promise<string | undefined> {
  const update = toUpdate(sent);
  if (update !== undefined)
    return await getRejection(handle.executeUpdate(update.name, { args: update.args }));
  if (sent.do === "cancel") await handle.cancel();
  else {
    const { name, args } = toSignal(sent);
    await handle.signal(name, ...args);
  }
  await waitForSignal(handle).catch((error: unknown) => {
    if (sent.do !== "stop" && sent.do !== "cancel") throw error;
  });
  return undefined;
}

type Message = { readonly name: string; readonly args: [unknown] };

function toUpdate(sent: SentArrival): Message | undefined {
  switch (sent.do) {
    case "prompt":
      return { name: promptUpdate.name, args: [{ id: sent.messageId, text: sent.text }] };
    case "approve":
    case "refuse":
      return { name: approveUpdate.name, args: [buildApprovalInput(sent)] };
    case "raiseLimits":
      return { name: raiseLimitsUpdate.name, args: [sent.limits] };
    default:
      return undefined;
  }
}

export function toSignal(sent: SentArrival): { readonly name: string; readonly args: unknown[] } {
  switch (sent.do) {
    case "steer":
      return { name: steerSignal.name, args: [{ id: sent.messageId, text: sent.text }] };
    case "followUp":
      return { name: followUpSignal.name, args: [{ id: sent.messageId, text: sent.text }] };
    case "stop":
      return { name: stopSignal.name, args: sent.reason === undefined ? [] : [sent.reason] };
    case "queueMode":
      return { name: queueModeSignal.name, args: [{ queue: sent.queue, mode: sent.mode }] };
    case "clearQueues":
      return { name: clearQueuesSignal.name, args: [sent.queue] };
    case "compact":
      return { name: compactSignal.name, args: sent.focus === undefined ? [] : [{ focus: sent.focus }] };
    default:
      throw new Error(`"${sent.do}" is not a signal`);
  }
}

/** Waits with a query, which the run answers after it has received the signals before it. */
async function waitForSignal(handle: WorkflowHandle): Promise<void> {
  await handle.query(statusQuery);
}

async function getRejection(update: Promise<unknown>): Promise<string | undefined> {
  try {
    await update;
    return undefined;
  } catch (error) {
    return String((error as { cause?: Error }).cause?.message ?? error);
  }
}
