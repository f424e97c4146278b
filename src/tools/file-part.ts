import { formatSize } from "../core/view/attachment.ts";
import { OWN_LIMITS } from "../core/view/model-input.ts";
import { detectFile } from "../platform/media/detect-file.ts";
import { countPdfPages, isEncryptedPdf } from "../platform/media/pdf.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { FileContent, ImageContent } from "../schema/message.ts";

/** The most bytes of a text file in a result: a quarter of a million tokens. */
const MAX_TEXT_FILE_BYTES = 1024 * 1024;

/** What a tool says about bytes. Their kind follows from the bytes themselves. */
export type FileClaim = { readonly name?: string | undefined; readonly mimeType?: string | undefined };

/** The part for a file of a tool's result, or why a model cannot receive it. */
export type FilePartResult =
  | { readonly type: "part"; readonly part: ImageContent | FileContent }
  | { readonly type: "refused"; readonly reason: string };

/**
 * Builds the part of a tool's result for the bytes of an image, a PDF document or a text. The bytes decide what a file is, as in
 * prompts: a vendor rejects a part of a wrong type, and with it every later request of the conversation.
 */
export function buildFilePart(bytes: Uint8Array, { name, mimeType }: FileClaim): FilePartResult {
  if (bytes.length === 0) return refuse("it is empty");
  const found = detectFile(bytes, name ?? "", mimeType);
  switch (found.kind) {
    case "image": {
      if (bytes.length > OWN_LIMITS.imageBytes) return refuseSize(bytes, OWN_LIMITS.imageBytes);
      const image = { type: "image" as const, mimeType: found.mimeType, data: toBase64(bytes) };
      return { type: "part", part: { ...image, ...omitUndefined({ name }) } };
    }
    case "pdf": {
      if (bytes.length > OWN_LIMITS.pdfBytes) return refuseSize(bytes, OWN_LIMITS.pdfBytes);
      if (isEncryptedPdf(bytes)) return refuse("it is an encrypted PDF document, which no vendor reads");
      const file = { type: "file" as const, mimeType: found.mimeType, data: toBase64(bytes) };
      const pages = countPdfPages(bytes);
      return { type: "part", part: { ...file, name: name ?? "document.pdf", ...omitUndefined({ pages }) } };
    }
    case "text": {
      if (found.bytes.length > MAX_TEXT_FILE_BYTES) return refuseSize(found.bytes, MAX_TEXT_FILE_BYTES);
      const file = { type: "file" as const, mimeType: found.mimeType, data: toBase64(found.bytes) };
      return { type: "part", part: { ...file, name: name ?? "text.txt" } };
    }
    case "unknown":
      return refuse("it is neither an image (PNG, JPEG, GIF, WebP), nor a PDF document, nor text");
  }
}

function refuse(reason: string): FilePartResult {
  return { type: "refused", reason };
}

function refuseSize({ length }: Uint8Array, maxBytes: number): FilePartResult {
  return refuse(`it has ${formatSize(length)}; the maximum is ${formatSize(maxBytes)}`);
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
