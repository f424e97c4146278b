import type { AgentMessage, Content } from "../schema/message.ts";

// How many tokens a message may have, without asking a tokenizer: CTX-01 to CTX-03.

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Bytes that a text has in UTF-8. A lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  // Most texts are ASCII, and a regular expression passes over those several times faster than a loop.
  const start = text.search(BEYOND_ASCII);
  let bytes = text.length;
  if (start < 0) return bytes;
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A pair is two units, and has four bytes.
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(i + 1))) i++;
  }
  return bytes;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** CTX-01: four bytes a token, rounded up. "hello" gives 2. */
export function estimateText(text: string): number {
  return Math.ceil(utf8Length(text) / 4);
}

/** Bytes a token of an image has, and the bounds of what one image counts (CTX-02). */
const IMAGE_BYTES_PER_TOKEN = 750;
const IMAGE_MIN_TOKENS = 85;
const IMAGE_MAX_TOKENS = 16_000;

function estimateImage(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  const bytes = Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
  return Math.min(IMAGE_MAX_TOKENS, Math.max(IMAGE_MIN_TOKENS, Math.ceil(bytes / IMAGE_BYTES_PER_TOKEN)));
}

export function estimateContent(content: Content): number {
  switch (content.type) {
    case "text":
      return estimateText(content.text);
    case "thinking":
      return estimateText(content.thinking);
    case "toolCall":
      return estimateText(content.name) + estimateText(JSON.stringify(content.arguments) ?? "null") + 8;
    case "image":
      return estimateImage(content.data);
    case "vendor":
      return estimateText(JSON.stringify(content.data) ?? "null");
  }
}

/** CTX-03. */
export function estimateMessage(message: AgentMessage): number {
  switch (message.role) {
    case "user":
    case "assistant":
      return sum(message.content) + 4;
    case "toolResult":
      return sum(message.content) + estimateText(message.toolName) + 8;
    case "extension":
      return estimateText(JSON.stringify(message.data) ?? "null") + 4;
  }
}

function sum(contents: readonly Content[]): number {
  return contents.reduce((total, content) => total + estimateContent(content), 0);
}
