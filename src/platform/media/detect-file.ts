import { extname } from "node:path";
import { isTextMediaType, PDF_TYPE } from "../text/media-type.ts";
import { detectImageType } from "./detect-image-type.ts";
import { isPdfFile } from "./pdf.ts";

/** What bytes are. Text is UTF-8. */
export type DetectedFile =
  | { readonly kind: "image"; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: "pdf"; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: "text"; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: "unknown" };

/** Media types of texts by the extension of their file. All others are `text/plain`. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".htm": "text/html",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".md": "text/markdown",
  ".mjs": "text/javascript",
  ".sql": "application/sql",
  ".toml": "application/toml",
  ".ts": "application/typescript",
  ".tsv": "text/tab-separated-values",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
};

/** Detects what a file is from its bytes. Its name, and what its sender claims, only tell kinds of text apart. */
export function detectFile(bytes: Uint8Array, name: string, claimedType?: string): DetectedFile {
  const image = detectImageType(bytes);
  if (image !== undefined) return { kind: "image", mimeType: image, bytes };
  if (isPdfFile(bytes)) return { kind: "pdf", mimeType: PDF_TYPE, bytes };
  const text = decodeText(bytes);
  if (text === undefined) return { kind: "unknown" };
  return { kind: "text", mimeType: getTextType(name, claimedType), bytes: Buffer.from(text, "utf8") };
}

function getTextType(name: string, claimedType: string | undefined): string {
  const type = claimedType?.split(";", 1)[0]?.trim().toLowerCase() ?? TEXT_TYPES[extname(name).toLowerCase()];
  return type !== undefined && isTextMediaType(type) ? type : "text/plain";
}

/** Decodes UTF-8, or UTF-16 with a byte order mark. Returns nothing for other bytes, and for texts with NUL characters. */
function decodeText(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const encoding = isUtf16 ? (first === 0xff ? "utf-16le" : "utf-16be") : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
