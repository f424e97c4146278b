import type { Entry } from "../../client/index.ts";
import { REFUSED_TEXT } from "../../core/machine/approving.ts";
import type { AssistantMessage, Content, ToolResultMessage } from "../../schema/message.ts";
import type { ToolOutput } from "./ui-chunk.ts";
import { textOf } from "./ui-message.ts";

// The conversation as a page has it when it is opened: the same messages and parts that it would hold had it been there.

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
  | { readonly type: "file"; readonly url: string; readonly mediaType: string }
  | { readonly type: "data-holdfast-message"; readonly data: { readonly text: string } }
  | ToolPart;

export type HistoryMessage = {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly UiPart[];
};

/** Words of people before a loop's first answer are messages of their own; all else of a loop is one message (U1). */
export function uiHistory(entries: readonly Entry[]): readonly HistoryMessage[] {
  const messages: HistoryMessage[] = [];
  let turn: number | undefined;
  for (const { message, position, messageId } of entries) {
    if (message.role === "extension") continue;
    const { loopId = "", turnIndex } = message.turnId ?? {};
    const open = messages.at(-1)?.id === loopId ? messages.pop() : undefined;
    if (open !== undefined || message.role !== "user") {
      const begins = open === undefined || turn !== turnIndex;
      const parts = [...(open?.parts ?? []), ...(begins ? [{ type: "step-start" as const }] : [])];
      messages.push({ id: loopId, role: "assistant", parts: withMore(parts, message) });
      turn = turnIndex;
    } else {
      const parts = [{ type: "text" as const, text: textOf(message.content), state: "done" as const }];
      messages.push({ id: messageId ?? `${loopId}.${position}`, role: "user", parts });
    }
  }
  return messages;
}

function withMore(
  parts: readonly UiPart[],
  message: Exclude<Entry["message"], { role: "extension" }>,
): readonly UiPart[] {
  switch (message.role) {
    case "assistant":
      return [...parts, ...answerParts(message)];
    case "user":
      return [...parts, { type: "data-holdfast-message", data: { text: textOf(message.content) } }];
    case "toolResult":
      return withResult(parts, message);
  }
}

function answerParts({ content }: AssistantMessage): readonly UiPart[] {
  return content.flatMap(uiPartsOf);
}

function uiPartsOf(part: Content): readonly UiPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, state: "done" }];
    case "thinking":
      return part.thinking === "" ? [] : [{ type: "reasoning", text: part.thinking, state: "done" }];
    case "image":
      return [{ type: "file", url: `data:${part.mimeType};base64,${part.data}`, mediaType: part.mimeType }];
    case "vendor":
      return [];
    case "toolCall": {
      const { id: toolCallId, name: toolName, arguments: input } = part;
      return [{ type: "dynamic-tool", toolCallId, toolName, input, state: "input-available" }];
    }
  }
}

/** Ids of calls are the vendor's, and may come again: the newest is meant. */
function withResult(
  parts: readonly UiPart[],
  { toolCallId, content, details, isError }: ToolResultMessage,
): readonly UiPart[] {
  const at = parts.findLastIndex((part) => part.type === "dynamic-tool" && part.toolCallId === toolCallId);
  const call = parts[at];
  if (call?.type !== "dynamic-tool") return parts;
  const { type, toolName, input } = call;
  const known = { type, toolCallId, toolName, input };
  const errorText = textOf(content);
  const output: ToolOutput = { content, ...(details === undefined ? {} : { details }) };
  const done: ToolPart = !isError
    ? { ...known, state: "output-available", output }
    : errorText.startsWith(REFUSED_TEXT)
      ? { ...known, state: "output-denied" }
      : { ...known, state: "output-error", errorText };
  return parts.with(at, done);
}
