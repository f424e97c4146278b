import type { Prompt, PromptSegment } from "./prompt-cache.ts";
import { getMessages, type ModelServerRequest } from "./request.ts";

// Prompts of Claude, directly and on Bedrock: tools, then the system prompt, then messages, block by block. The vendor
// caches a prompt up to the marks of the request.

/** The minimum prefix in tokens, by model (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). */
function getMinTokens(model: string): number {
  if (/haiku-4[-.]5|opus-4[-.][56]/.test(model)) return 4096;
  return /haiku-3|3-(?:5-)?haiku|sonnet-4[-.]6/.test(model) ? 2048 : 1024;
}

/** Builds a prompt whose mark is `cache_control` on the last cached block. */
export function buildAnthropicPrompt({ body, model }: ModelServerRequest): Prompt {
  const messageSegments = getMessages(body).flatMap(({ role, content }) =>
    asList(content).map((block) => toMarkedSegment(block, String(role))),
  );
  const segments = [
    ...asList(body["tools"]).map((tool) => toMarkedSegment(tool, "tool")),
    ...asList(body["system"]).map((block) => toMarkedSegment(block, "system")),
    ...messageSegments,
  ];
  return { segments, minTokens: getMinTokens(model) };
}

function toMarkedSegment(value: unknown, before: string): PromptSegment {
  if (typeof value !== "object" || value === null)
    return { json: before + JSON.stringify(value), isCachePoint: false };
  const { cache_control: mark, ...content } = value as Readonly<Record<string, unknown>>;
  return { json: before + JSON.stringify(content), isCachePoint: mark !== undefined && mark !== null };
}

/** Builds a prompt whose mark is a separate block after the last cached block. */
export function buildBedrockPrompt({ body, model }: ModelServerRequest): Prompt {
  const { tools } = (body["toolConfig"] ?? {}) as { readonly tools?: unknown };
  const messageSegments = getMessages(body).flatMap(({ role, content }) =>
    toPointedSegments(asList(content), String(role)),
  );
  const segments = [
    ...toPointedSegments(asList(tools), "tool"),
    ...toPointedSegments(asList(body["system"]), "system"),
    ...messageSegments,
  ];
  return { segments, minTokens: getMinTokens(model) };
}

function toPointedSegments(blocks: readonly unknown[], before: string): readonly PromptSegment[] {
  const isPoint = (block: unknown) => typeof block === "object" && block !== null && "cachePoint" in block;
  return blocks.flatMap((block, at) =>
    isPoint(block) ? [] : [{ json: before + JSON.stringify(block), isCachePoint: isPoint(blocks[at + 1]) }],
  );
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
