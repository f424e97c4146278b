import { isOverflowText } from "../../platform/text/overflow.ts";
import type { AgentMessage, AssistantMessage, Message, TurnId, UserMessage } from "../../schema/message.ts";

// Small functions on messages, for applications (TYP-05, TYP-14).

/** Builds the message of a user with one text. @param atMs - Unix milliseconds. */
export function buildUserMessage(text: string, atMs: number): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: atMs };
}

/** Returns the part of a message that a model may receive. An application's own message is never sent to a model. */
export function toModelMessage(message: AgentMessage): Message | undefined {
  return message.role === "extension" ? undefined : message;
}

/** Returns the loop and turn of a message; `undefined` for extension messages and messages without one. */
export function getTurnId(message: AgentMessage): TurnId | undefined {
  return toModelMessage(message)?.turnId;
}

/** Sets the turn of a message. An application's own message has no turn and is returned unchanged. */
export function setTurnId<Kind extends AgentMessage>(message: Kind, turnId: TurnId): Kind {
  return message.role === "extension" ? message : { ...message, turnId };
}

/** Tells whether an answer reports that the context exceeded the model's window (OVF-01). */
export function isContextOverflow(message: AssistantMessage): boolean {
  return message.errorMessage !== undefined && isOverflowText(message.errorMessage);
}
