import { decodeBase64 } from "../../../platform/media/decode-base64.ts";
import {
  asBoolean,
  asFields,
  asList,
  asNumber,
  asObject,
  asText,
  type JsonObject,
} from "../../../platform/text/json.ts";
import type { FileContent, ImageContent, TextContent } from "../../../schema/message.ts";
import { buildFilePart } from "../../file-part.ts";
import { toWellFormed } from "../sanitise-text.ts";

// Converts a server's answer to texts, images and files for a model. Content that a model cannot receive is named instead.

/** The limit for all texts of one answer. */
const MAX_TEXT_BYTES = 256 * 1024;

const MAX_FILES = 10;
/** 22 MB as base64: the largest PDF document. */
const MAX_FILE_CHARS = 30 * 1024 * 1024;
const MAX_NAME_CHARS = 200;

type Part = TextContent | ImageContent | FileContent;

export type ToolResult = {
  readonly content: readonly Part[];
  readonly isError: boolean;
  /** Data for programs: the unprocessed `structuredContent`. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
};

/** Converts a result of `tools/call`. */
export function toToolResult(answer: unknown): ToolResult {
  const fields = asFields(answer);
  const parts = asList(fields["content"]).map((part) => toContentPart(asObject(part)));
  const structured = fields["structuredContent"];
  const hasText = parts.some((part) => part.type !== "text" || part.text.trim() !== "");
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
export function toResourceContent(answer: unknown): readonly Part[] {
  const contents = asList(asObject(answer)?.["contents"]).map((one) => toResourcePart(asObject(one)));
  return limitParts(contents.length === 0 ? [toText("(the resource is empty)")] : contents);
}

/** Formats the text alone: an error contains no files. */
export function formatContent(content: readonly Part[]): string {
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mimeType}]`))
    .join("\n");
}

function toContentPart(part: JsonObject | undefined): Part {
  switch (part?.["type"]) {
    case "text":
      return toText(asText(part["text"]) ?? "");
    case "image":
      return toFile("image", part, asText(part["data"]));
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

function toResourcePart(resource: JsonObject | undefined): Part {
  const uri = asText(resource?.["uri"]) ?? "";
  const text = asText(resource?.["text"]);
  if (text !== undefined) return toText(uri === "" ? text : `${uri}:\n${text}`);
  return toFile(`resource ${uri}`, resource ?? {}, asText(resource?.["blob"]), getFileName(uri));
}

/** Returns the last part of an address, without its query. */
function getFileName(uri: string): string | undefined {
  const [, name = ""] = /([^/?#:]+)(?:[?#].*)?$/.exec(uri) ?? [];
  const clean = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, " ").trim();
  return clean === "" ? undefined : clean.slice(-MAX_NAME_CHARS);
}

function formatResourceLink(part: JsonObject): string {
  const facts = [asText(part["mimeType"]), asText(part["description"])].filter((fact) => fact !== undefined);
  const size = asNumber(part["size"]);
  const more = [...facts, ...(size === undefined ? [] : [`${size} bytes`])].join(", ");
  const name = asText(part["title"]) ?? asText(part["name"]) ?? "";
  return `[resource ${name} <${asText(part["uri"]) ?? ""}>${more === "" ? "" : `: ${more}`}]`;
}

/** Converts data to an image or a file, or to a text that says why a model cannot receive it. */
function toFile(what: string, part: JsonObject, data: string | undefined, name?: string): Part {
  const bytes =
    data === undefined || data.length > MAX_FILE_CHARS ? undefined : decodeBase64(data.replace(/\s+/g, ""));
  if (bytes === undefined) return toText(formatOmittedPart(what, part, data));
  const result = buildFilePart(bytes, { name, mimeType: asText(part["mimeType"]) });
  if (result.type === "refused") return toText(formatOmittedPart(what, part, data, result.reason));
  const isNoImage = what === "image" && result.part.type !== "image";
  return isNoImage ? toText(formatOmittedPart(what, part, data, "it is no image")) : result.part;
}

function formatOmittedPart(
  what: string,
  part: JsonObject,
  data: string | undefined,
  reason = "a model cannot receive it",
): string {
  const type = asText(part["mimeType"]) ?? "of an unknown type";
  const bytes = data === undefined ? 0 : Math.floor((data.length * 3) / 4);
  return `[${what}, ${type}, ${bytes} bytes: ${reason}]`;
}

function toText(content: string): TextContent {
  return { type: "text", text: toWellFormed(content) };
}

function limitParts(parts: readonly Part[]): readonly Part[] {
  let remainingBytes = MAX_TEXT_BYTES;
  let files = 0;
  return parts.flatMap((part): readonly Part[] => {
    if (part.type !== "text") {
      files += 1;
      return files <= MAX_FILES
        ? [part]
        : [
            toText(
              `[${part.type} ${part.mimeType} is omitted: an answer may contain ${MAX_FILES} images and files]`,
            ),
          ];
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
