import type { Permission } from "../../schema/record.ts";
import type { Gist, ScenarioEvent } from "./events.ts";

/** Events as lines for people; the two events of a message that touch are one line. */
export function eventLines(events: readonly ScenarioEvent[]): string[] {
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
    lines.push(pair ? eventLine(following).replace("MessageEnd", "Message") : eventLine(event));
  }
  return lines;
}

function eventLine(event: ScenarioEvent): string {
  const field = (name: string) => String(event[name]);
  switch (event.type) {
    case "AgentStart": {
      const parent = event["parentLoop"] === undefined ? "" : ` after loop ${field("parentLoop")}`;
      return `AgentStart ${field("kind")}${parent}`;
    }
    case "AgentEnd":
      return `AgentEnd ${outcomeLine(event["outcome"] as Record<string, unknown>)}`;
    case "TurnStart":
      return `TurnStart ${field("turn")} ${field("trigger")}`;
    case "TurnEnd":
      return `TurnEnd ${field("turn")} results ${field("results")}`;
    case "MessageStart":
      return `MessageStart ${field("position")}`;
    case "MessageEnd":
      return `MessageEnd ${field("position")} ${gistLine(event["message"] as Gist | undefined)}`;
    case "ToolExecutionStart":
      return `ToolExecutionStart ${field("toolName")} ${field("toolCallId")}${permissionWords(event)}`;
    case "ToolExecutionEnd":
      return `ToolExecutionEnd ${field("toolName")} ${field("toolCallId")} ${event["isError"] === true ? "error" : "ok"}${permissionWords(event)}`;
    case "InputRejected":
      return `InputRejected ${field("reason")}`;
    case "CompactionStarted":
      return `CompactionStarted ${field("messageCount")} messages, ${field("estimatedTokens")} tokens`;
    case "CompactionEnded": {
      const messages = `${field("messagesBefore")} to ${field("messagesAfter")} messages`;
      return `CompactionEnded ${messages}, ${field("estimatedTokensBefore")} to ${field("estimatedTokensAfter")} tokens`;
    }
    default: {
      const { loop: _loop, type, ...rest } = event;
      return `${type} ${JSON.stringify(rest)}`;
    }
  }
}

/** Only where the policy had more to say than yes: `, asked: refused by ann`. */
function permissionWords(event: ScenarioEvent): string {
  const permission = event["permission"] as Permission | undefined;
  if (permission === undefined) return "";
  const { outcome, rule, answer, by } = permission;
  if (rule === "grant") return ", allowed before";
  if (outcome === "deny") return `, denied by ${rule === "otherwise" ? "default" : `rule ${rule}`}`;
  if (outcome !== "ask") return "";
  return `, asked: ${answer ?? "no answer"}${by === undefined ? "" : ` by ${by}`}`;
}

export function outcomeLine(outcome: Record<string, unknown>): string {
  const { type, ...rest } = outcome;
  return [type, ...Object.values(rest)].map(String).join(" ");
}

function gistLine(gist: Gist | undefined): string {
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
