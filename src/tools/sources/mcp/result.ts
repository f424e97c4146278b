import type { ImageContent, TextContent } from "../../../schema/message.ts";
import { pictureType } from "../picture.ts";
import { wellFormed } from "../plain-text.ts";
import { flagOf, type Json, listOf, numberOf, objectOf, textOf } from "./json.ts";

// What a server's answer becomes for a model: text and images. What a model cannot be given is named instead.

/** Of all texts of one answer. */
const MAX_TEXT_BYTES = 256 * 1024;

const MAX_IMAGES = 10;
const MAX_IMAGE_CHARS = 7 * 1024 * 1024;
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Of the base64 of a picture, which say what it is. */
const HEAD_CHARS = 64;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

export type Result = {
  readonly content: readonly (TextContent | ImageContent)[];
  readonly isError: boolean;
  /** For programs: `structuredContent` as it came. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
};

/** Of `tools/call`. */
export function resultOf(answer: unknown): Result {
  const fields = objectOf(answer) ?? {};
  const parts = listOf(fields["content"]).map((part) => partOf(objectOf(part)));
  const structured = fields["structuredContent"];
  const hasWords = parts.some((part) => part.type === "image" || part.text.trim() !== "");
  if (structured !== undefined && !hasWords) parts.push(text(JSON.stringify(structured, undefined, 2) ?? ""));
  const small = structured !== undefined && sizeOf(structured) <= MAX_TEXT_BYTES;
  return {
    content: bounded(parts.length === 0 ? [text("(the tool answered without content)")] : parts),
    isError: flagOf(fields["isError"]) ?? false,
    details: small ? { structuredContent: structured } : undefined,
  };
}

/** Of `resources/read`. */
export function contentsOf(answer: unknown): readonly (TextContent | ImageContent)[] {
  const contents = listOf(objectOf(answer)?.["contents"]).map((one) => resourceOf(objectOf(one)));
  return bounded(contents.length === 0 ? [text("(the resource is empty)")] : contents);
}

/** The words alone: an error has no images. */
export function wordsOf(content: readonly (TextContent | ImageContent)[]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[image ${part.mimeType}]`)).join("\n");
}

function partOf(part: Json | undefined): TextContent | ImageContent {
  switch (part?.["type"]) {
    case "text":
      return text(textOf(part["text"]) ?? "");
    case "image":
      return image(part) ?? text(notShown("image", part, textOf(part["data"])));
    case "audio":
      return text(notShown("audio", part, textOf(part["data"])));
    case "resource_link":
      return text(linkOf(part));
    case "resource":
      return resourceOf(objectOf(part["resource"]));
    default:
      return text(`[content of the unknown type "${String(part?.["type"]).slice(0, 50)}" is not shown]`);
  }
}

function resourceOf(resource: Json | undefined): TextContent | ImageContent {
  const uri = textOf(resource?.["uri"]) ?? "";
  const words = textOf(resource?.["text"]);
  if (words !== undefined) return text(uri === "" ? words : `${uri}:\n${words}`);
  const blob = textOf(resource?.["blob"]);
  const asImage = image({ data: blob, mimeType: resource?.["mimeType"] });
  return asImage ?? text(notShown(`resource ${uri}`, resource ?? {}, blob));
}

function linkOf(part: Json): string {
  const facts = [textOf(part["mimeType"]), textOf(part["description"])].filter((fact) => fact !== undefined);
  const size = numberOf(part["size"]);
  const more = [...facts, ...(size === undefined ? [] : [`${size} bytes`])].join(", ");
  const name = textOf(part["title"]) ?? textOf(part["name"]) ?? "";
  return `[resource ${name} <${textOf(part["uri"]) ?? ""}>${more === "" ? "" : `: ${more}`}]`;
}

function image(part: Json): ImageContent | undefined {
  const data = textOf(part["data"]);
  const mimeType = textOf(part["mimeType"])?.toLowerCase() ?? "";
  if (data === undefined || data.length > MAX_IMAGE_CHARS) return undefined;
  if (!IMAGE_TYPES.has(mimeType) || !BASE64.test(data)) return undefined;
  const plain = data.replace(/\s+/g, "");
  const shown = pictureType(Buffer.from(plain.slice(0, HEAD_CHARS), "base64"));
  return shown === undefined ? undefined : { type: "image", data: plain, mimeType: shown };
}

function notShown(what: string, part: Json, data: string | undefined): string {
  const type = textOf(part["mimeType"]) ?? "of an unknown type";
  const bytes = data === undefined ? 0 : Math.floor((data.length * 3) / 4);
  return `[${what}, ${type}, ${bytes} bytes: it cannot be shown to a model]`;
}

function text(words: string): TextContent {
  return { type: "text", text: wellFormed(words) };
}

type Part = TextContent | ImageContent;

function bounded(parts: readonly Part[]): readonly Part[] {
  let left = MAX_TEXT_BYTES;
  let images = 0;
  return parts.flatMap((part): readonly Part[] => {
    if (part.type === "image") {
      images += 1;
      return images <= MAX_IMAGES
        ? [part]
        : [text(`[image ${part.mimeType}: more than ${MAX_IMAGES} of one answer]`)];
    }
    if (left <= 0) return [];
    const bytes = Buffer.byteLength(part.text);
    if (bytes <= left) {
      left -= bytes;
      return [part];
    }
    const kept = new TextDecoder().decode(Buffer.from(part.text).subarray(0, left)).replace(/\uFFFD+$/, "");
    left = 0;
    return [text(`${kept}\n... (output truncated)`)];
  });
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}
