import type { Prompt, PromptPiece } from "./prompt-cache.ts";
import { messagesOf, type Question } from "./question.ts";

// The prompts of Claude, directly and on Bedrock: tools, then the system prompt, then messages, block by block; kept up
// to where the request says so.

/** In tokens, by the model (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). */
function leastOf(model: string): number {
  if (/haiku-4[-.]5|opus-4[-.][56]/.test(model)) return 4096;
  return /haiku-3|3-(?:5-)?haiku|sonnet-4[-.]6/.test(model) ? 2048 : 1024;
}

/** `cache_control` on the block that is the last to be kept. */
export function anthropicPrompt({ body, model }: Question): Prompt {
  const all = messagesOf(body).flatMap(({ role, content }) =>
    listed(content).map((block) => marked(block, String(role))),
  );
  const pieces = [
    ...listed(body["tools"]).map((tool) => marked(tool, "tool")),
    ...listed(body["system"]).map((block) => marked(block, "system")),
    ...all,
  ];
  return { pieces, least: leastOf(model) };
}

function marked(value: unknown, before: string): PromptPiece {
  if (typeof value !== "object" || value === null)
    return { json: before + JSON.stringify(value), mark: false };
  const { cache_control: mark, ...rest } = value as Readonly<Record<string, unknown>>;
  return { json: before + JSON.stringify(rest), mark: mark !== undefined && mark !== null };
}

/** A block of its own behind the last that is to be kept. */
export function bedrockPrompt({ body, model }: Question): Prompt {
  const { tools } = (body["toolConfig"] ?? {}) as { readonly tools?: unknown };
  const all = messagesOf(body).flatMap(({ role, content }) => pointed(listed(content), String(role)));
  const pieces = [...pointed(listed(tools), "tool"), ...pointed(listed(body["system"]), "system"), ...all];
  return { pieces, least: leastOf(model) };
}

function pointed(blocks: readonly unknown[], before: string): readonly PromptPiece[] {
  const isPoint = (block: unknown) => typeof block === "object" && block !== null && "cachePoint" in block;
  return blocks.flatMap((block, at) =>
    isPoint(block) ? [] : [{ json: before + JSON.stringify(block), mark: isPoint(blocks[at + 1]) }],
  );
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
