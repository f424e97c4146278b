import { PDF_TYPE } from "../../platform/text/media-type.ts";
import type { AgentMessage, Content, FileContent } from "../../schema/message.ts";
import { countDataBytes } from "./data-reference.ts";

// Estimates the tokens of a message without a tokenizer: CTX-01 to CTX-03.

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Counts the UTF-8 bytes of a text. A lone surrogate counts as the three bytes of its replacement. */
export function countUtf8Bytes(text: string): number {
  // Most texts are ASCII, and a regular expression skips those several times faster than a loop.
  const start = text.search(BEYOND_ASCII);
  let bytes = text.length;
  if (start < 0) return bytes;
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A surrogate pair is two code units and four bytes.
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

/** Estimates a text at four bytes a token, rounded up (CTX-01): "hello" gives 2. */
export function estimateText(text: string): number {
  return Math.ceil(countUtf8Bytes(text) / 4);
}

/** Bytes per token of an image, and the bounds of an image's estimate (CTX-02). */
const IMAGE_BYTES_PER_TOKEN = 750;
const IMAGE_MIN_TOKENS = 85;
const IMAGE_MAX_TOKENS = 16_000;

function estimateImage(data: string): number {
  const tokens = Math.ceil(countDataBytes(data) / IMAGE_BYTES_PER_TOKEN);
  return Math.min(IMAGE_MAX_TOKENS, Math.max(IMAGE_MIN_TOKENS, tokens));
}

/**
 * Tokens of a page of a PDF document. Anthropic names 1,500 to 3,000 for the text of a page and counts an image of it
 * besides; OpenAI sends both as well, and Gemini counts 258.
 */
const PDF_PAGE_TOKENS = 3000;

/** Bytes of a page where the number of pages is unknown: most documents have more. */
const PDF_PAGE_BYTES = 50_000;

function estimateFile({ data, mimeType, name, pages }: FileContent): number {
  const bytes = countDataBytes(data);
  if (mimeType !== PDF_TYPE) return Math.ceil(bytes / 4) + estimateText(name);
  return (pages ?? Math.max(1, Math.ceil(bytes / PDF_PAGE_BYTES))) * PDF_PAGE_TOKENS;
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
    case "file":
      return estimateFile(content);
    case "vendor":
      return estimateText(JSON.stringify(content.data) ?? "null");
  }
}

/** Estimates the tokens of a message (CTX-03). */
export function estimateMessage(message: AgentMessage): number {
  switch (message.role) {
    case "user":
    case "assistant":
      return sumContents(message.content) + 4;
    case "toolResult":
      return sumContents(message.content) + estimateText(message.toolName) + 8;
    case "extension":
      return estimateText(JSON.stringify(message.data) ?? "null") + 4;
  }
}

/** Estimates the tokens of several parts. */
export function sumContents(contents: readonly Content[]): number {
  return contents.reduce((total, content) => total + estimateContent(content), 0);
}
