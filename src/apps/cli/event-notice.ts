import type { AgentEvent } from "../../client/index.ts";
import { stripControls } from "./palette.ts";
import { shortenText } from "./text.ts";

type EventOfType<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** `info` is a remark, `warning` something that the user should know, `error` a failure. */
export type NoticeTone = "info" | "warning" | "error";

/** A line about an event that has no content of its own. */
export type EventNotice = { readonly text: string; readonly tone: "warning" | "error" };

const REASON_CHARS = 160;

/** @returns Nothing for an event that is displayed in another way, or not at all. */
export function describeEvent(event: AgentEvent): EventNotice | undefined {
  switch (event.type) {
    case "InputRejected":
      return { text: `input rejected: ${shortenText(event.reason, REASON_CHARS)}`, tone: "error" };
    case "ModelFallback":
      return { text: formatFallback(event), tone: "warning" };
    case "MessageRejected":
      return { text: formatRejectedMessage(event), tone: "warning" };
    case "DefinitionChanged":
      return { text: formatDefinitionUpdate(event), tone: "warning" };
    default:
      return undefined;
  }
}

function formatFallback({ to, from, for: purpose }: EventOfType<"ModelFallback">): string {
  const reasons = from.map(({ provider, model, fault }) => `${provider}/${model}: ${fault}`).join(", ");
  const did = purpose === undefined ? "answered" : "summarised";
  return stripControls(`(${did} by ${to.provider}/${to.model}; ${reasons})`);
}

function formatRejectedMessage(event: EventOfType<"MessageRejected">): string {
  const { messageId, queue, waiting, rejected } = event;
  const total = rejected > 1 ? `; ${rejected} rejected so far` : "";
  const what = `${queue === "steering" ? "steering message" : "follow-up"} ${shortenText(messageId, 80)}`;
  return stripControls(`(the queue is full with ${waiting.messages} messages: ${what} was rejected${total})`);
}

function formatDefinitionUpdate(event: EventOfType<"DefinitionChanged">): string {
  if (!event.applied) {
    return `(definition not updated: ${shortenText(event.reason ?? "", REASON_CHARS)})`;
  }
  const fields = event.changes.map(({ field }) => field).join(", ");
  return stripControls(`(definition updated: ${fields})`);
}
