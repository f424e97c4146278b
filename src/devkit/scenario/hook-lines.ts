import type { AgentMessage } from "../../schema/message.ts";
import { eventLines } from "./event-lines.ts";
import { timeless } from "./events.ts";
import type { ScenarioAnswer } from "./form/hook.ts";
import type { HookCall, Played } from "./played.ts";

/** A message that a hook is told of, as a line. */
export function hookMessage(message: AgentMessage): string {
  if (message.role === "extension") return `(${message.kind})`;
  const words = message.content.flatMap((part): string[] => {
    if (part.type === "text") return part.text === "" ? [] : [timeless(part.text)];
    return part.type === "toolCall" ? [`+${part.name}`] : [];
  });
  const who = { user: "user", assistant: "model", toolResult: "result" }[message.role];
  const failed = message.role === "toolResult" && message.isError ? "!" : "";
  return `${who}${failed}: ${words.join(" ")}`;
}

/** `before-tool guard look call_0_0: no, not today` */
export function hookLine(call: HookCall): string {
  const { hook, name, answer } = call;
  const about = call["call"] === undefined ? "" : ` ${String(call["tool"])} ${String(call["call"])}`;
  const said = call["text"] ?? call["error"];
  const quoted = said === undefined ? "" : ` ${JSON.stringify(said)}`;
  return `${hook} ${String(name)}${about}${quoted}: ${answerWords(answer as ScenarioAnswer)}`;
}

/** Events and hook calls as lines for people, each hook call behind the events before it. */
export function storyLines({ events, hooks }: Pick<Played, "events" | "hooks">): string[] {
  const lines: string[] = [];
  let told = 0;
  for (const call of hooks) {
    lines.push(...eventLines(events.slice(told, call.behind)), `(${hookLine(call)})`);
    told = Math.max(told, call.behind);
  }
  return [...lines, ...eventLines(events.slice(told))];
}

function answerWords(answer: ScenarioAnswer): string {
  if (typeof answer === "string") return answer;
  return Object.entries(answer)
    .map(([kind, text]) => `${kind}, ${text}`)
    .join("");
}
