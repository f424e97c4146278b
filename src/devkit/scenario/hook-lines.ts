import type { AgentMessage } from "../../schema/message.ts";
import { formatEvents } from "./event-lines.ts";
import { maskVariableText } from "./events.ts";
import type { ScenarioAnswer } from "./form/hook.ts";
import type { HookCall, PlayResult } from "./play-result.ts";

/** Formats a message that a hook receives as a line. */
export function formatMessage(message: AgentMessage): string {
  if (message.role === "extension") return `(${message.kind})`;
  const texts = message.content.flatMap((part): string[] => {
    if (part.type === "text") return part.text === "" ? [] : [maskVariableText(part.text)];
    return part.type === "toolCall" ? [`+${part.name}`] : [];
  });
  const who = { user: "user", assistant: "model", toolResult: "result" }[message.role];
  const failed = message.role === "toolResult" && message.isError ? "!" : "";
  return `${who}${failed}: ${texts.join(" ")}`;
}

/** `before-tool guard look call_0_0: no, not today` */
export function formatHookCall(call: HookCall): string {
  const { hook, name, answer } = call;
  const about = call["call"] === undefined ? "" : ` ${String(call["tool"])} ${String(call["call"])}`;
  const text = call["text"] ?? call["error"];
  const quoted = text === undefined ? "" : ` ${JSON.stringify(text)}`;
  return `${hook} ${String(name)}${about}${quoted}: ${formatAnswer(answer as ScenarioAnswer)}`;
}

/** Formats events and hook calls as readable lines, each hook call after the events that precede it. */
export function formatStory({ events, hooks }: Pick<PlayResult, "events" | "hooks">): string[] {
  const lines: string[] = [];
  let printedHooks = 0;
  for (const call of hooks) {
    lines.push(...formatEvents(events.slice(printedHooks, call.eventsBefore)), `(${formatHookCall(call)})`);
    printedHooks = Math.max(printedHooks, call.eventsBefore);
  }
  return [...lines, ...formatEvents(events.slice(printedHooks))];
}

function formatAnswer(answer: ScenarioAnswer): string {
  if (typeof answer === "string") return answer;
  return Object.entries(answer)
    .map(([kind, text]) => `${kind}, ${text}`)
    .join("");
}
