import { type Attachment, formatAttachment, isAttachment, isPdf } from "../../core/view/attachment.ts";
import { countDataBytes } from "../../core/view/data-reference.ts";
import {
  combineLimits,
  findInputProblem,
  getInputLimits,
  type InputLimits,
  OWN_LIMITS,
} from "../../core/view/model-input.ts";
import { detectFile } from "../../platform/media/detect-file.ts";
import { readImageSize } from "../../platform/media/image-size.ts";
import { countPdfPages, isEncryptedPdf } from "../../platform/media/pdf.ts";
import { PDF_TYPE } from "../../platform/text/media-type.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { getKind } from "../../schema/check.ts";
import type { Content } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { HoldfastError } from "../holdfast-error.ts";
import type { FilePart, ImagePart, PromptPart } from "./prompt-part.ts";
import { createInvalidError, createTooLargeError, readSource } from "./read-source.ts";

/** The most parts of one message. */
const MAX_PARTS = 100;

/** The most bytes of a text file: more than most models read. */
const MAX_TEXT_FILE_BYTES = 10 * 1024 * 1024;

/**
 * Reads the parts of a message, and checks everything that a vendor would reject: what the bytes are, their size, and whether
 * the model reads them.
 *
 * @param label - What the message is, for errors.
 * @param models - The models that are to read them, as far as they are known.
 */
export async function readParts(
  parts: readonly PromptPart[],
  label: string,
  models: readonly ModelConfig[],
): Promise<readonly Content[]> {
  if (parts.length > MAX_PARTS) {
    const problem = `The ${label} has ${parts.length} parts; the maximum is ${MAX_PARTS}.`;
    throw new HoldfastError("input-too-large", problem, { problems: [problem] });
  }
  const limits = models.map(getInputLimits).reduce(combineLimits, OWN_LIMITS);
  const content: Content[] = [];
  for (const [index, part] of parts.entries()) {
    content.push(await readPart(part, `${label}'s part ${index + 1}`, limits));
  }
  const attachments = content.filter(isAttachment);
  for (const model of models) for (const part of attachments) checkModel(part, model);
  checkTotals(attachments, label, limits);
  return content;
}

async function readPart(part: PromptPart, what: string, limits: InputLimits): Promise<Content> {
  switch (part?.type) {
    case "text":
      if (typeof part.text !== "string")
        throw createInvalidError(what, `needs a text, not ${getKind(part.text)}`);
      return { type: "text", text: part.text };
    case "image":
    case "file":
      return await readAttachment(part, what, limits);
    default: {
      const found = JSON.stringify((part as { readonly type?: unknown } | undefined)?.type) ?? "none";
      throw createInvalidError(what, `needs the type "text", "image" or "file", not ${found}`);
    }
  }
}

async function readAttachment(
  part: ImagePart | FilePart,
  what: string,
  limits: InputLimits,
): Promise<Attachment> {
  const named = formatSourceName(part, what);
  const { bytes, name } = await readSource(part, named, OWN_LIMITS.totalBytes);
  const found = detectFile(bytes, name ?? "", part.mimeType);
  switch (found.kind) {
    case "image":
      checkPixels(bytes, found.mimeType, named, limits);
      return { type: "image", mimeType: found.mimeType, data: toBase64(bytes), ...omitUndefined({ name }) };
    case "pdf":
      if (part.type === "image") throw createNoImageError(named, "a PDF document");
      return readPdf(bytes, name ?? "document.pdf", named);
    case "text":
      if (part.type === "image") throw createNoImageError(named, "a text");
      if (found.bytes.length > MAX_TEXT_FILE_BYTES)
        throw createTooLargeError(named, found.bytes.length, MAX_TEXT_FILE_BYTES);
      return {
        type: "file",
        mimeType: found.mimeType,
        data: toBase64(found.bytes),
        name: name ?? "text.txt",
      };
    case "unknown":
      throw createInvalidError(
        named,
        part.type === "image"
          ? "is not a PNG, JPEG, GIF or WebP image. Convert it."
          : "is neither an image (PNG, JPEG, GIF, WebP), nor a PDF document, nor text. Convert it, or put it into the " +
              "agent's workspace and refer to it in the text.",
      );
  }
}

function readPdf(bytes: Uint8Array, name: string, named: string): Attachment {
  if (isEncryptedPdf(bytes)) {
    throw createInvalidError(
      named,
      "is an encrypted PDF document, which no vendor reads. Save it without protection.",
    );
  }
  const pages = countPdfPages(bytes);
  return { type: "file", mimeType: PDF_TYPE, data: toBase64(bytes), name, ...omitUndefined({ pages }) };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function formatSourceName(part: ImagePart | FilePart, what: string): string {
  const name = part.name ?? ("path" in part ? part.path : undefined);
  return name === undefined ? what : `${part.type} ${name}`;
}

function createNoImageError(named: string, kind: string): HoldfastError {
  return createInvalidError(named, `is ${kind}, not an image. Send it as a part of type "file".`);
}

function checkPixels(bytes: Uint8Array, mimeType: string, named: string, { imagePixels }: InputLimits): void {
  const size = readImageSize(bytes, mimeType);
  if (size === undefined || Math.max(size.width, size.height) <= imagePixels) return;
  throw new HoldfastError(
    "input-too-large",
    `The ${named} has ${size.width} × ${size.height} pixels; the maximum of the model's vendor is ${imagePixels} on a side. ` +
      "Make it smaller.",
  );
}

function checkModel(part: Attachment, model: ModelConfig): void {
  const problem = findInputProblem(part, model);
  if (problem === undefined) return;
  const { reason, type } = problem;
  const advice =
    type === "too-large"
      ? "Make it smaller."
      : "Choose a model that does (`holdfast models` lists what models read), or leave it out. If the model does, say so in `input` of its configuration.";
  throw new HoldfastError(
    type === "too-large" ? "input-too-large" : "input-unsupported",
    `The ${formatAttachment(part)} cannot be sent: ${reason}. ${advice}`,
    { problems: [reason] },
  );
}

function checkTotals(parts: readonly Attachment[], label: string, limits: InputLimits): void {
  const bytes = parts.reduce((sum, { data }) => sum + countDataBytes(data), 0);
  if (bytes > limits.totalBytes)
    throw createTooLargeError(`${label} with its images and files`, bytes, limits.totalBytes);
  const images = parts.filter(({ type }) => type === "image").length;
  const pdfs = parts.filter(isPdf).length;
  for (const [count, max, what] of [
    [images, limits.images, "images"],
    [pdfs, limits.pdfs, "PDF documents"],
  ] as const) {
    if (count <= max) continue;
    const problem = `The ${label} has ${count} ${what}; the model takes ${max} in one message. Send them in several messages.`;
    throw new HoldfastError("input-too-large", problem, { problems: [problem] });
  }
}
