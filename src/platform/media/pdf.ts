import { inflateSync } from "node:zlib";

// Facts of a PDF document that decide whether a vendor takes it. This is no parser: it looks for the objects of pages, also
// in compressed object streams.

/** The bytes in which readers look for the header. */
const HEAD_BYTES = 1024;

/** The most bytes of one object stream: those of real documents have some hundred kilobytes. */
const MAX_STREAM_BYTES = 16 * 1024 * 1024;
/** The most bytes of all object streams of a document together. */
const MAX_STREAMS_BYTES = 64 * 1024 * 1024;

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
const PAGE_COUNT =
  /\/Type\s*\/Pages\b[^>]{0,400}?\/Count\s+(\d+)|\/Count\s+(\d+)[^>]{0,400}?\/Type\s*\/Pages\b/g;

export function isPdfFile(bytes: Uint8Array): boolean {
  return toLatin1(bytes.subarray(0, HEAD_BYTES)).includes("%PDF-");
}

/** Reports whether a document needs a password or forbids some use: vendors reject both. */
export function isEncryptedPdf(bytes: Uint8Array): boolean {
  // The entry is in the trailer, or in the dictionary of the cross-reference stream; neither is compressed.
  return /\/Encrypt\s+\d+\s+\d+\s+R/.test(toLatin1(bytes));
}

/** Counts the pages of a document; nothing where that cannot be found out. */
export function countPdfPages(bytes: Uint8Array): number | undefined {
  const text = toLatin1(bytes);
  const texts = [text, ...inflateObjectStreams(bytes, text)];
  const counts = texts.flatMap((one) => [...one.matchAll(PAGE_COUNT)].map(([, a, b]) => Number(a ?? b)));
  // The root of the page tree counts all pages, its other nodes fewer.
  const counted = Math.max(0, ...counts);
  const pages = texts.reduce((sum, one) => sum + (one.match(PAGE)?.length ?? 0), 0);
  const found = counted > 0 ? counted : pages;
  return found > 0 ? found : undefined;
}

function* inflateObjectStreams(bytes: Uint8Array, text: string): Generator<string> {
  let left = MAX_STREAMS_BYTES;
  let readTo = 0;
  for (const { index } of text.matchAll(/\/Type\s*\/ObjStm\b/g)) {
    if (index < readTo) continue;
    const start = /stream\r?\n/g;
    start.lastIndex = index;
    const found = start.exec(text);
    const end = text.indexOf("endstream", start.lastIndex);
    if (found === null || end < 0 || left <= 0) return;
    readTo = end;
    try {
      const maxOutputLength = Math.min(left, MAX_STREAM_BYTES);
      const inflated = toLatin1(inflateSync(bytes.subarray(start.lastIndex, end), { maxOutputLength }));
      left -= inflated.length;
      yield inflated;
    } catch {
      // Compressed in another way, or damaged: its pages stay unknown.
    }
  }
}

function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
