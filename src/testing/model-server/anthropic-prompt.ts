import type { PromptPiece } from "./prompt-cache.ts";
import { messagesOf, type Question } from "./question.ts";

/** Tools, then the system prompt, then messages, block by block; kept up to where `cache_control` stands. */
export function anthropicPrompt({ body }: Question): readonly PromptPiece[] {
  const all = messagesOf(body).flatMap(({ role, content }) =>
    listed(content).map((block) => piece(block, String(role))),
  );
  return [
    ...listed(body["tools"]).map((tool) => piece(tool, "tool")),
    ...listed(body["system"]).map((block) => piece(block, "system")),
    ...all,
  ];
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function piece(value: unknown, before: string): PromptPiece {
  if (typeof value !== "object" || value === null)
    return { json: before + JSON.stringify(value), mark: false };
  const { cache_control: mark, ...rest } = value as Readonly<Record<string, unknown>>;
  return { json: before + JSON.stringify(rest), mark: mark !== undefined && mark !== null };
}
