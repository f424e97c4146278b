import { isTextMediaType, PDF_TYPE } from "../../platform/text/media-type.ts";
import type { Content, FileContent, ImageContent } from "../../schema/message.ts";
import { countDataBytes } from "./data-reference.ts";

// The parts of a message that have bytes: images and files.

export type Attachment = ImageContent | FileContent;

export function isAttachment(part: Content): part is Attachment {
  return part.type === "image" || part.type === "file";
}

/** Builds the content of a message of a text and files. A blank text is left out, because vendors reject it. */
export function joinFiles(text: string, files: readonly Attachment[]): readonly Content[] {
  return text.trim() === "" ? files : [{ type: "text", text }, ...files];
}

/** Reports whether a file is a text, which is sent to a model as a text. */
export function isTextFile({ mimeType }: Pick<FileContent, "mimeType">): boolean {
  return isTextMediaType(mimeType);
}

export function isPdf({ mimeType }: Pick<FileContent, "mimeType">): boolean {
  return mimeType.toLowerCase() === PDF_TYPE;
}

/** Describes a part in one line: `image photo.png 34 KB image/png`. */
export function formatAttachment(part: Attachment): string {
  const { type, name, mimeType, data } = part;
  const pages = part.type === "file" && part.pages !== undefined ? [`${part.pages} pages`] : [];
  return [
    type,
    ...(name === undefined ? [] : [name]),
    formatSize(countDataBytes(data)),
    mimeType,
    ...pages,
  ].join(" ");
}

/** Formats a number of bytes: `812 bytes`, `34 KB`, `2.4 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilobytes = Math.round(bytes / 1024);
  return kilobytes < 1024 ? `${kilobytes} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
