import type { Entry } from "../../client/index.ts";
import { isUserDenial } from "../../core/machine/denial-texts.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AssistantMessage, Content, ToolResultMessage } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";
import type { ToolOutput, UiUserMessage } from "./ui-chunk.ts";
import { toUiFiles, toUiUserMessage, type UiFile } from "./ui-file.ts";

// The conversation for a page that opens: the same messages and parts as if it had been open from the start.

type ToolPart = {
  readonly type: "dynamic-tool";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
} & (
  | { readonly state: "input-available" | "output-denied" }
  | { readonly state: "output-available"; readonly output: ToolOutput }
  | { readonly state: "output-error"; readonly errorText: string }
);

type UiPart =
  | { readonly type: "step-start" }
  | { readonly type: "text" | "reasoning"; readonly text: string; readonly state: "done" }
  | UiFile
  | { readonly type: "data-holdfast-message"; readonly data: UiUserMessage }
  | ToolPart;

export type HistoryMessage = {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly UiPart[];
};

/** Returns user messages before a loop's first answer as separate messages, the rest of a loop as one message (U1). */
export function buildUiHistory(entries: readonly Entry[]): readonly HistoryMessage[] {
  const messages: HistoryMessage[] = [];
  let turn: number | undefined;
  for (const { message, position, messageId } of entries) {
    if (message.role === "extension") continue;
    const { loopId = "", turnIndex } = message.turnId ?? {};
    const open = messages.at(-1)?.id === loopId ? messages.pop() : undefined;
    if (open !== undefined || message.role !== "user") {
      const begins = open === undefined || turn !== turnIndex;
      const parts = [...(open?.parts ?? []), ...(begins ? [{ type: "step-start" as const }] : [])];
      messages.push({ id: loopId, role: "assistant", parts: appendParts(parts, message) });
      turn = turnIndex;
    } else {
      const { text, files = [] } = toUiUserMessage(message.content);
      const parts = [{ type: "text" as const, text, state: "done" as const }, ...files];
      messages.push({ id: messageId ?? `${loopId}.${position}`, role: "user", parts });
    }
  }
  return messages;
}

function appendParts(
  parts: readonly UiPart[],
  message: Exclude<Entry["message"], { role: "extension" }>,
): readonly UiPart[] {
  switch (message.role) {
    case "assistant":
      return [...parts, ...toAnswerParts(message)];
    case "user":
      return [...parts, { type: "data-holdfast-message", data: toUiUserMessage(message.content) }];
    case "toolResult":
      return applyResult(parts, message);
  }
}

function toAnswerParts({ content }: AssistantMessage): readonly UiPart[] {
  return content.flatMap(toUiParts);
}

function toUiParts(part: Content): readonly UiPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, state: "done" }];
    case "thinking":
      return part.thinking === "" ? [] : [{ type: "reasoning", text: part.thinking, state: "done" }];
    case "image":
    case "file":
      return toUiFiles([part]);
    case "vendor":
      return [];
    case "toolCall": {
      const { id: toolCallId, name: toolName, arguments: input } = part;
      return [{ type: "dynamic-tool", toolCallId, toolName, input, state: "input-available" }];
    }
  }
}

/** A vendor may reuse call ids: the newest call gets the result. */
function applyResult(
  parts: readonly UiPart[],
  { toolCallId, content, details, isError }: ToolResultMessage,
): readonly UiPart[] {
  const index = parts.findLastIndex((part) => part.type === "dynamic-tool" && part.toolCallId === toolCallId);
  const call = parts[index];
  if (call?.type !== "dynamic-tool") return parts;
  const { type, toolName, input } = call;
  const known = { type, toolCallId, toolName, input };
  const errorText = joinText(content);
  const output: ToolOutput = { content, ...omitUndefined({ details }) };
  const done: ToolPart = !isError
    ? { ...known, state: "output-available", output }
    : isUserDenial(errorText)
      ? { ...known, state: "output-denied" }
      : { ...known, state: "output-error", errorText };
  return parts.with(index, done);
}
