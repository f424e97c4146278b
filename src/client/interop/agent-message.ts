import { isOverflowText } from "../../platform/text/overflow.ts";
import type { AgentMessage, AssistantMessage, Message, TurnId, UserMessage } from "../../schema/message.ts";

// Small questions about messages, for applications (TYP-05, TYP-14).

/** @param atMs - Unix milliseconds. */
export function buildUserMessage(text: string, atMs: number): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: atMs };
}

/** What a model may see of it: nothing of what an application keeps for itself, and there is no way to make it so. */
export function toModelMessage(message: AgentMessage): Message | undefined {
  return message.role === "extension" ? undefined : message;
}

export function getTurnId(message: AgentMessage): TurnId | undefined {
  return toModelMessage(message)?.turnId;
}

/** An application's own message has no turn and stays as it is. */
export function setTurnId<Kind extends AgentMessage>(message: Kind, turnId: TurnId): Kind {
  return message.role === "extension" ? message : { ...message, turnId };
}

/** Whether an answer says that the context did not fit the model (OVF-01). */
export function isContextOverflow(message: AssistantMessage): boolean {
  return message.errorMessage !== undefined && isOverflowText(message.errorMessage);
}
