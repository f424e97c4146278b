import type { Permission } from "../../schema/loop-event.ts";
import type { MessageDigest, ScenarioEvent } from "./events.ts";

/** Formats events as readable lines; two adjacent events of one message are one line. */
export function formatEvents(events: readonly ScenarioEvent[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as ScenarioEvent;
    const following = events[at + 1];
    const pair =
      event.type === "MessageStart" &&
      following?.type === "MessageEnd" &&
      following.loop === event.loop &&
      following["position"] === event["position"];
    if (pair) at += 1;
    lines.push(pair ? formatEvent(following).replace("MessageEnd", "Message") : formatEvent(event));
  }
  return lines;
}

function formatEvent(event: ScenarioEvent): string {
  const formatField = (name: string) => String(event[name]);
  switch (event.type) {
    case "AgentStart": {
      const parent = event["parentLoop"] === undefined ? "" : ` after loop ${formatField("parentLoop")}`;
      return `AgentStart ${formatField("kind")}${parent}`;
    }
    case "AgentEnd":
      return `AgentEnd ${formatOutcome(event["outcome"] as Record<string, unknown>)}`;
    case "TurnStart":
      return `TurnStart ${formatField("turn")} ${formatField("trigger")}`;
    case "TurnEnd":
      return `TurnEnd ${formatField("turn")} results ${formatField("results")}`;
    case "MessageStart":
      return `MessageStart ${formatField("position")}`;
    case "MessageEnd":
      return `MessageEnd ${formatField("position")} ${formatDigest(event["message"] as MessageDigest | undefined)}`;
    case "ToolExecutionStart":
      return `ToolExecutionStart ${formatField("toolName")} ${formatField("toolCallId")}${formatPermission(event)}`;
    case "ToolExecutionEnd":
      return `ToolExecutionEnd ${formatField("toolName")} ${formatField("toolCallId")} ${event["isError"] === true ? "error" : "ok"}${formatPermission(event)}`;
    case "InputRejected":
      return `InputRejected ${formatField("reason")}`;
    case "CompactionStarted":
      return `CompactionStarted ${formatField("messageCount")} messages, ${formatField("estimatedTokens")} tokens`;
    case "CompactionEnded": {
      const messages = `${formatField("messagesBefore")} to ${formatField("messagesAfter")} messages`;
      return `CompactionEnded ${messages}, ${formatField("estimatedTokensBefore")} to ${formatField("estimatedTokensAfter")} tokens`;
    }
    default: {
      const { loop: _loop, type, ...rest } = event;
      return `${type} ${JSON.stringify(rest)}`;
    }
  }
}

/** Only where the policy had more to say than yes: `, asked: refused by ann`. */
function formatPermission(event: ScenarioEvent): string {
  const permission = event["permission"] as Permission | undefined;
  if (permission === undefined) return "";
  const { outcome, rule, answer, by } = permission;
  if (rule === "grant") return ", allowed before";
  if (outcome === "deny") return `, denied by ${rule === "otherwise" ? "default" : `rule ${rule}`}`;
  if (outcome !== "ask") return "";
  return `, asked: ${answer ?? "no answer"}${by === undefined ? "" : ` by ${by}`}`;
}

export function formatOutcome(outcome: Record<string, unknown>): string {
  const { type, ...fields } = outcome;
  return [type, ...Object.values(fields)].map(String).join(" ");
}

function formatDigest(gist: MessageDigest | undefined): string {
  if (gist === undefined) return "(nothing)";
  switch (gist.role) {
    case "assistant": {
      if (gist.errorMessage !== undefined) return `${gist.stopReason}: ${gist.errorMessage}`;
      const names = (gist.calls ?? []).map((name) => ` +${name}`).join("");
      return `model: ${gist.text}${names}${gist.stopReason === "length" ? " (length)" : ""}`;
    }
    case "toolResult":
      return `${gist.toolName}${gist.isError ? "!" : ""}: ${gist.text}`;
    default:
      return `${gist.origin}: ${gist.text}`;
  }
}
