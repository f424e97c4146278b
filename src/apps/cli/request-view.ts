import type { BlockOrigin, SourcedMessage, TurnRequest } from "../../client/index.ts";
import { type Palette, printable } from "./palette.ts";

/** What a model was sent for one answer, for reading: every block under where it comes from. */
export function requestLines(request: TurnRequest, paint: Palette): readonly string[] {
  const { loopId, turn, branch, position, model, systemPrompt, tools, messages, shapedBy } = request;
  const facts = [
    `loop ${loopId}, turn ${turn} · answer at #${position} of ${branch}`,
    `model ${model.provider}/${model.id} · thinking ${request.thinking}${maybe("temperature", request.temperature)}${maybe("at most", request.maxTokens, "tokens")}`,
    ...(tools === undefined
      ? ["tools: not recorded"]
      : [`tools: ${tools.map(({ name }) => name).join(", ") || "none"}`]),
    ...(request.output === undefined ? [] : [`output: ${request.output.type}`]),
    ...(request.mustCall === undefined ? [] : [`must call: ${request.mustCall}`]),
    ...(shapedBy.length === 0
      ? []
      : [`shaped by ${shapedBy.join(", ")} after this: functions of the application`]),
  ];
  return [
    ...facts.map((fact) => paint.dim(printable(fact))),
    "",
    ...block("system prompt", systemPrompt.text, paint),
    ...messages.flatMap((message) => block(headOf(message), bodyOf(message), paint)),
  ];
}

function maybe(before: string, value: number | undefined, behind = ""): string {
  return value === undefined ? "" : ` · ${before} ${value}${behind === "" ? "" : ` ${behind}`}`;
}

function block(head: string, text: string, paint: Palette): readonly string[] {
  const body = printable(text).trimEnd();
  return [paint.bold(printable(head)), ...(body === "" ? [] : [body]), ""];
}

function headOf({ message, origin }: SourcedMessage): string {
  const role = message.role === "toolResult" ? `result of ${message.toolName}` : message.role;
  return `[${role}] ${saidBy(origin)}`;
}

function saidBy(origin: BlockOrigin): string {
  switch (origin.type) {
    case "system-prompt":
      return "system prompt";
    case "compaction":
      return `compaction at ${place(origin)}, section ${origin.section}, in place of #${origin.from} to #${origin.to - 1}`;
    case "memo":
      return `memo of the answer at ${place(origin)}, in place of what was pruned at #${origin.at}`;
    case "turn":
      return `#${origin.position} · ${turnOf(origin)}${origin.cut === undefined ? "" : ` · cut to about ${origin.cut} lines`}${clippedTo(origin)}`;
    default: {
      const { position } = origin;
      if (position === undefined) return `${origin.type}, not recorded`;
      return `#${position} · ${origin.type}${clippedTo(origin)}`;
    }
  }
}

function clippedTo({ chars }: { readonly chars?: number }): string {
  return chars === undefined ? "" : ` · cut to about ${chars} characters`;
}

function place({ position, branch }: { readonly position: number; readonly branch?: string }): string {
  return branch === undefined ? `#${position}` : `#${position} of ${branch}`;
}

function turnOf({ loopId, turn }: { readonly loopId?: string; readonly turn?: number }): string {
  return loopId === undefined ? "turn unknown" : `turn ${turn} of ${loopId}`;
}

function bodyOf({ message }: SourcedMessage): string {
  return message.content
    .map((part) => {
      switch (part.type) {
        case "text":
          return part.text;
        case "thinking":
          return `(thinking) ${part.thinking}`;
        case "toolCall":
          return `● ${part.name} ${JSON.stringify(part.arguments)}`;
        case "image":
          return "[image]";
        default:
          return "";
      }
    })
    .filter((text) => text !== "")
    .join("\n");
}
