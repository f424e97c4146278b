import { buildUserContent, REJECTED_KIND } from "../../../src/core/machine/rejected-message.ts";
import type { RunHookCommand } from "../../../src/core/machine/state/activity-command.ts";
import type { OutboxEvent } from "../../../src/core/machine/state/outbox.ts";
import type { AgentMessage } from "../../../src/schema/message.ts";
import type { Entry } from "../../../src/schema/record.ts";
import { SECRET_OF_TEXT } from "./script.ts";

// A record, as lines that a test can name.

export function textOf(message: AgentMessage): string {
  if (message.role === "extension") return message.kind;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

export function lineOf({ origin, message }: Entry): string {
  const text = textOf(message).replace(SECRET_OF_TEXT, "").trim();
  switch (message.role) {
    case "user":
      return `${origin}: ${text}`;
    case "assistant": {
      if (message.errorMessage !== undefined) return `${message.stopReason}: ${message.errorMessage}`;
      const names = message.content.flatMap((part) => (part.type === "toolCall" ? [part.name] : []));
      return `model: ${[text, ...names].join(" +")}`;
    }
    case "toolResult":
      return `${message.toolName}${message.isError ? "!" : ""}: ${text}`;
    case "extension":
      return message.kind === REJECTED_KIND
        ? `refused ${origin}: ${(message.data as { text: string }).text}`
        : `extension: ${text}`;
  }
}

export function eventLine({ body }: OutboxEvent): string {
  switch (body.type) {
    case "AgentStart":
      return `AgentStart ${body.kind.type}`;
    case "AgentEnd":
      return `AgentEnd ${body.outcome.type} ${body.from}..${body.to}`;
    case "TurnStart":
      return `TurnStart ${body.turn} ${body.trigger}${body.textOnly === true ? " text only" : ""}`;
    case "TurnEnd":
      return `TurnEnd ${body.turn} at ${body.position} with ${body.results}`;
    case "MessageStart":
    case "MessageEnd":
      return `${body.type} ${body.position}`;
    case "ToolExecutionStart":
      return `ToolExecutionStart ${body.toolName}`;
    case "ToolExecutionEnd":
      return `ToolExecutionEnd ${body.toolName} ${body.isError ? "error" : "ok"}`;
    default:
      return body.type;
  }
}

export function hookLine({ question, turn }: RunHookCommand): string {
  if ("calls" in question)
    return `${question.point} ${question.calls.map(({ toolName }) => toolName).join(" ")}`;
  return question.point === "after-turn" || question.point === "before-turn"
    ? `${question.point} ${turn}`
    : question.point;
}

export function userMessage(text: string, timestamp: number): AgentMessage {
  return { role: "user", content: [...buildUserContent(text, undefined)], timestamp };
}
