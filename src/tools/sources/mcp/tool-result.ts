import { detectImageType } from "../../../platform/media/detect-image-type.ts";
import {
  asBoolean,
  asFields,
  asList,
  asNumber,
  asObject,
  asText,
  type JsonObject,
} from "../../../platform/text/json.ts";
import type { ImageContent, TextContent } from "../../../schema/message.ts";
import { toWellFormed } from "../sanitise-text.ts";

// Converts a server's answer to text and images for a model. Content that a model cannot receive is named instead.

/** The limit for all texts of one answer. */
const MAX_TEXT_BYTES = 256 * 1024;

const MAX_IMAGES = 10;
const MAX_IMAGE_CHARS = 7 * 1024 * 1024;
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** The beginning of an image's base64, enough to detect its type. */
const HEAD_CHARS = 64;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

export type ToolResult = {
  readonly content: readonly (TextContent | ImageContent)[];
  readonly isError: boolean;
  /** Data for programs: the unprocessed `structuredContent`. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
};

/** Converts a result of `tools/call`. */
export function toToolResult(answer: unknown): ToolResult {
  const fields = asFields(answer);
  const parts = asList(fields["content"]).map((part) => toContentPart(asObject(part)));
  const structured = fields["structuredContent"];
  const hasText = parts.some((part) => part.type === "image" || part.text.trim() !== "");
  if (structured !== undefined && !hasText)
    parts.push(toText(JSON.stringify(structured, undefined, 2) ?? ""));
  const small = structured !== undefined && measureBytes(structured) <= MAX_TEXT_BYTES;
  return {
    content: limitParts(parts.length === 0 ? [toText("(the tool returned no content)")] : parts),
    isError: asBoolean(fields["isError"]) ?? false,
    details: small ? { structuredContent: structured } : undefined,
  };
}

/** Converts a result of `resources/read`. */
export function toResourceContent(answer: unknown): readonly (TextContent | ImageContent)[] {
  const contents = asList(asObject(answer)?.["contents"]).map((one) => toResourcePart(asObject(one)));
  return limitParts(contents.length === 0 ? [toText("(the resource is empty)")] : contents);
}

/** Formats the text alone: an error contains no images. */
export function formatContent(content: readonly (TextContent | ImageContent)[]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[image ${part.mimeType}]`)).join("\n");
}

function toContentPart(part: JsonObject | undefined): TextContent | ImageContent {
  switch (part?.["type"]) {
    case "text":
      return toText(asText(part["text"]) ?? "");
    case "image":
      return toImage(part) ?? toText(formatOmittedPart("image", part, asText(part["data"])));
    case "audio":
      return toText(formatOmittedPart("audio", part, asText(part["data"])));
    case "resource_link":
      return toText(formatResourceLink(part));
    case "resource":
      return toResourcePart(asObject(part["resource"]));
    default:
      return toText(`[content of the unknown type "${String(part?.["type"]).slice(0, 50)}" is omitted]`);
  }
}

function toResourcePart(resource: JsonObject | undefined): TextContent | ImageContent {
  const uri = asText(resource?.["uri"]) ?? "";
  const text = asText(resource?.["text"]);
  if (text !== undefined) return toText(uri === "" ? text : `${uri}:\n${text}`);
  const blob = asText(resource?.["blob"]);
  const asImage = toImage({ data: blob, mimeType: resource?.["mimeType"] });
  return asImage ?? toText(formatOmittedPart(`resource ${uri}`, resource ?? {}, blob));
}

function formatResourceLink(part: JsonObject): string {
  const facts = [asText(part["mimeType"]), asText(part["description"])].filter((fact) => fact !== undefined);
  const size = asNumber(part["size"]);
  const more = [...facts, ...(size === undefined ? [] : [`${size} bytes`])].join(", ");
  const name = asText(part["title"]) ?? asText(part["name"]) ?? "";
  return `[resource ${name} <${asText(part["uri"]) ?? ""}>${more === "" ? "" : `: ${more}`}]`;
}

function toImage(part: JsonObject): ImageContent | undefined {
  const data = asText(part["data"]);
  const mimeType = asText(part["mimeType"])?.toLowerCase() ?? "";
  if (data === undefined || data.length > MAX_IMAGE_CHARS) return undefined;
  if (!IMAGE_TYPES.has(mimeType) || !BASE64.test(data)) return undefined;
  const plain = data.replace(/\s+/g, "");
  const detected = detectImageType(Buffer.from(plain.slice(0, HEAD_CHARS), "base64"));
  return detected === undefined ? undefined : { type: "image", data: plain, mimeType: detected };
}

function formatOmittedPart(what: string, part: JsonObject, data: string | undefined): string {
  const type = asText(part["mimeType"]) ?? "of an unknown type";
  const bytes = data === undefined ? 0 : Math.floor((data.length * 3) / 4);
  return `[${what}, ${type}, ${bytes} bytes: a model cannot receive it]`;
}

function toText(content: string): TextContent {
  return { type: "text", text: toWellFormed(content) };
}

type Part = TextContent | ImageContent;

function limitParts(parts: readonly Part[]): readonly Part[] {
  let remainingBytes = MAX_TEXT_BYTES;
  let images = 0;
  return parts.flatMap((part): readonly Part[] => {
    if (part.type === "image") {
      images += 1;
      return images <= MAX_IMAGES
        ? [part]
        : [toText(`[image ${part.mimeType}is omitted: an answer may contain ${MAX_IMAGES} images]`)];
    }
    if (remainingBytes <= 0) return [];
    const bytes = Buffer.byteLength(part.text);
    if (bytes <= remainingBytes) {
      remainingBytes -= bytes;
      return [part];
    }
    const truncated = new TextDecoder()
      .decode(Buffer.from(part.text).subarray(0, remainingBytes))
      .replace(/\uFFFD+$/, "");
    remainingBytes = 0;
    return [toText(`${truncated}\n... (output truncated)`)];
  });
}

function measureBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}
