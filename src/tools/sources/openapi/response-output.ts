import { isPdf } from "../../../core/view/attachment.ts";
import { OWN_LIMITS } from "../../../core/view/model-input.ts";
import { PDF_TYPE } from "../../../platform/text/media-type.ts";
import { buildFilePart } from "../../file-part.ts";
import type { ToolOutput } from "../../tool-execution.ts";
import type { ApiRequest } from "./prepare-request.ts";
import type { RequestSecrets } from "./request-secrets.ts";
import type { ApiResponse } from "./sender.ts";

/** The size that all vendors accept: 5 MB as base64. */
const MAX_IMAGE_BYTES = 3_750_000;
const IMAGE_TYPES = /^image\/(png|jpeg|gif|webp)$/;
const TEXT_TYPES =
  /^text\/|[/+](json|xml|yaml|x-yaml|javascript|x-ndjson|jsonl|graphql|x-www-form-urlencoded|csv|toml|sql)$/;
/** The bytes that are inspected if the answer has no type. */
const SNIFFED_BYTES = 4096;

export function getMaxBytes(contentType: string, maxText: number): number {
  const type = getMediaType(contentType);
  if (type === PDF_TYPE) return Math.max(maxText, OWN_LIMITS.pdfBytes);
  return IMAGE_TYPES.test(type) ? Math.max(maxText, MAX_IMAGE_BYTES) : maxText;
}

/** Formats an answer for the model (OAPI-07): "{METHOD} {URL} → {STATUS}", an empty line, the body. */
export function toToolOutput(request: ApiRequest, answer: ApiResponse, secrets: RequestSecrets): ToolOutput {
  const { status, contentType, bytes, isCut, redirectsTo } = answer;
  const head = `${request.method} ${request.maskedUrl} → ${status}\n\n`;
  const type = getMediaType(contentType);
  const details = { status, url: request.maskedUrl, contentType: type, bytes: bytes.length, isCut };
  const notes = [
    ...(redirectsTo === undefined ? [] : [`The redirect to ${secrets.mask(redirectsTo)} was not followed.`]),
    ...(isCut ? [`The body was cut at ${bytes.length} bytes.`] : []),
  ].map((text) => ({ type: "text" as const, text: `[${text}]` }));
  const buildOutput = (body: string): ToolOutput => ({
    content: [{ type: "text", text: head + secrets.mask(body) }, ...notes],
    details,
  });
  if (bytes.length === 0) return buildOutput("");
  const isFile = (IMAGE_TYPES.test(type) || type === PDF_TYPE) && !isCut;
  const file = isFile ? buildFilePart(bytes, { name: getFileName(request), mimeType: type }) : undefined;
  if (file?.type === "part" && (file.part.type === "image" || isPdf(file.part))) {
    const { content } = buildOutput(`(${file.part.mimeType}, ${bytes.length} bytes)`);
    return { content: [...content, file.part], details };
  }
  if (file?.type === "refused")
    return buildOutput(`(${type}, ${bytes.length} bytes: ${file.reason}, so it is omitted)`);
  const isText =
    type === "" || type === "application/octet-stream" ? looksLikeText(bytes) : TEXT_TYPES.test(type);
  if (isText) return buildOutput(decodeText(bytes, contentType, isCut));
  return buildOutput(
    `(${type || "bytes"}, ${isCut ? "more than " : ""}${bytes.length} bytes: not text, so it is omitted)`,
  );
}

/** Returns the last part of the address if it is the name of a file. */
function getFileName({ maskedUrl }: ApiRequest): string | undefined {
  return /\/([\w.-]+\.\w+)(?:\?.*)?$/.exec(maskedUrl)?.[1];
}

function getMediaType(contentType: string): string {
  return contentType.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Cuts at a character boundary. */
function decodeText(bytes: Uint8Array, contentType: string, isCut: boolean): string {
  const [, charset] = /charset="?([\w-]+)/i.exec(contentType) ?? [];
  return createDecoder(charset).decode(bytes, { stream: isCut });
}

function createDecoder(charset = "utf-8") {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

function looksLikeText(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, SNIFFED_BYTES);
  if (start.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
