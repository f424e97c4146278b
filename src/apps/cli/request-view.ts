import type { BlockOrigin, SourcedMessage, TurnRequest } from "../../client/index.ts";
import { formatAttachment } from "../../core/view/attachment.ts";
import { type Palette, stripControls } from "./palette.ts";

/** Formats the request for one turn: every block under its source. */
export function formatTurnRequest(request: TurnRequest, paint: Palette): readonly string[] {
  const { loopId, turn, branch, position, model, systemPrompt, tools, messages, transforms } = request;
  const facts = [
    `loop ${loopId}, turn ${turn} · answer at #${position} of ${branch}`,
    `model ${model.provider}/${model.id} · thinking ${request.thinking}${formatOptional("temperature", request.temperature)}${formatOptional("at most", request.maxTokens, "tokens")}`,
    ...(tools === undefined
      ? ["tools: not recorded"]
      : [`tools: ${tools.map(({ name }) => name).join(", ") || "none"}`]),
    ...(request.output === undefined ? [] : [`output: ${request.output.type}`]),
    ...(request.forcedTool === undefined ? [] : [`must call: ${request.forcedTool}`]),
    ...(request.textOnly === true ? ["must answer with text, as a hook requires"] : []),
    ...(transforms.length === 0
      ? []
      : [`changed afterwards by functions of the application: ${transforms.join(", ")}`]),
  ];
  return [
    ...facts.map((fact) => paint.dim(stripControls(fact))),
    "",
    ...formatBlock("system prompt", systemPrompt.text, paint),
    ...messages.flatMap((message) => formatBlock(formatHead(message), formatBody(message), paint)),
  ];
}

function formatOptional(prefix: string, value: number | undefined, suffix = ""): string {
  return value === undefined ? "" : ` · ${prefix} ${value}${suffix === "" ? "" : ` ${suffix}`}`;
}

function formatBlock(head: string, text: string, paint: Palette): readonly string[] {
  const body = stripControls(text).trimEnd();
  return [paint.bold(stripControls(head)), ...(body === "" ? [] : [body]), ""];
}

function formatHead({ message, origin }: SourcedMessage): string {
  const role = message.role === "toolResult" ? `result of ${message.toolName}` : message.role;
  return `[${role}] ${formatOrigin(origin)}`;
}

function formatOrigin(origin: BlockOrigin): string {
  switch (origin.type) {
    case "system-prompt":
      return "system prompt";
    case "compaction":
      return `compaction at ${formatPosition(origin)}, section ${origin.section}, replaces #${origin.from} to #${origin.to - 1}`;
    case "memo":
      return `memo of the answer at ${formatPosition(origin)}, replaces the messages pruned at #${origin.at}`;
    case "turn":
      return `#${origin.position} · ${formatTurn(origin)}${origin.maxLines === undefined ? "" : ` · truncated to about ${origin.maxLines} lines`}${formatClipping(origin)}`;
    default: {
      const { position } = origin;
      if (position === undefined) return `${origin.type}, not recorded`;
      return `#${position} · ${origin.type}${formatClipping(origin)}`;
    }
  }
}

function formatClipping({ maxChars }: { readonly maxChars?: number }): string {
  return maxChars === undefined ? "" : ` · truncated to about ${maxChars} characters`;
}

function formatPosition({
  position,
  branch,
}: {
  readonly position: number;
  readonly branch?: string;
}): string {
  return branch === undefined ? `#${position}` : `#${position} of ${branch}`;
}

function formatTurn({ loopId, turn }: { readonly loopId?: string; readonly turn?: number }): string {
  return loopId === undefined ? "turn unknown" : `turn ${turn} of ${loopId}`;
}

function formatBody({ message }: SourcedMessage): string {
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
        case "file":
          return `[${formatAttachment(part)}]`;
        default:
          return "";
      }
    })
    .filter((text) => text !== "")
    .join("\n");
}
