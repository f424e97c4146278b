import type { ToolOutput } from "../../tool.ts";
import { pictureType } from "../picture.ts";
import type { ApiRequest } from "./request.ts";
import type { UsedSecrets } from "./secrets.ts";
import type { Answer } from "./send.ts";

/** What all vendors take, as base64 within 5 MB. */
const MAX_IMAGE_BYTES = 3_750_000;
const IMAGES = /^image\/(png|jpeg|gif|webp)$/;
const TEXTS =
  /^text\/|[/+](json|xml|yaml|x-yaml|javascript|x-ndjson|jsonl|graphql|x-www-form-urlencoded|csv|toml|sql)$/;
/** Looked at where no type is said. */
const SNIFFED_BYTES = 4096;

export function maxBytesOf(contentType: string, maxText: number): number {
  return IMAGES.test(typeOf(contentType)) ? Math.max(maxText, MAX_IMAGE_BYTES) : maxText;
}

/** What the model is told of an answer (OAPI-07): "{METHOD} {URL} → {STATUS}", an empty line, the body. */
export function resultOf(request: ApiRequest, answer: Answer, secrets: UsedSecrets): ToolOutput {
  const { status, contentType, bytes, isCut, leadsTo } = answer;
  const head = `${request.method} ${request.shown} → ${status}\n\n`;
  const type = typeOf(contentType);
  const details = { status, url: request.shown, contentType: type, bytes: bytes.length, isCut };
  const notes = [
    ...(leadsTo === undefined ? [] : [`The redirect to ${secrets.mask(leadsTo)} was not followed.`]),
    ...(isCut ? [`The body was cut at ${bytes.length} bytes.`] : []),
  ].map((text) => ({ type: "text" as const, text: `[${text}]` }));
  const said = (body: string): ToolOutput => ({
    content: [{ type: "text", text: head + secrets.mask(body) }, ...notes],
    details,
  });
  if (bytes.length === 0) return said("");
  const picture = IMAGES.test(type) && !isCut ? pictureType(bytes) : undefined;
  if (picture !== undefined) {
    const data = Buffer.from(bytes).toString("base64");
    const { content } = said(`(${picture}, ${bytes.length} bytes)`);
    return { content: [...content, { type: "image", data, mimeType: picture }], details };
  }
  const isText = type === "" || type === "application/octet-stream" ? looksLikeText(bytes) : TEXTS.test(type);
  if (isText) return said(textOf(bytes, contentType, isCut));
  return said(
    `(${type || "bytes"}, ${isCut ? "more than " : ""}${bytes.length} bytes: no text, so it is not shown)`,
  );
}

function typeOf(contentType: string): string {
  return contentType.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Cut behind a whole character. */
function textOf(bytes: Uint8Array, contentType: string, isCut: boolean): string {
  const [, charset] = /charset="?([\w-]+)/i.exec(contentType) ?? [];
  return decoder(charset).decode(bytes, { stream: isCut });
}

function decoder(charset = "utf-8") {
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
