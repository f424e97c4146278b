import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readImageSize } from "../../src/platform/media/image-size.ts";
import { countPdfPages, isEncryptedPdf, isPdfFile } from "../../src/platform/media/pdf.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");
const bytesOf = (text: string) => Buffer.from(text, "latin1");

describe("the size of an image", () => {
  test.each([
    ["image/png", Buffer.from(PIXEL, "base64"), 1, 1],
    ["image/gif", bytes("474946383961 2003 5802 f7"), 800, 600],
    ["image/jpeg", bytes("ffd8 ffe0 0004 0000 ffc4 0003 00 ff ffc2 000b 08 0258 0320 03"), 800, 600],
    ["image/webp", bytes("52494646 00000000 57454250 56503820 00000000 000000 9d012a 2003 5802"), 800, 600],
    ["image/webp", bytes("52494646 00000000 57454250 5650384c 00000000 2f 1fc39500 00"), 800, 600],
    ["image/webp", bytes("52494646 00000000 57454250 56503858 0a000000 00000000 1f0300 570200"), 800, 600],
  ])("%s", (mimeType, image, width, height) => {
    expect(readImageSize(image, mimeType)).toEqual({ width, height });
  });

  test("is unknown for truncated bytes, and reading ends for any bytes", () => {
    const kinds = ["image/png", "image/gif", "image/jpeg", "image/webp", "image/tiff"];
    expect(readImageSize(Buffer.from(PIXEL, "base64").subarray(0, 20), "image/png")).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(...kinds), (image, kind) => {
        const size = readImageSize(image, kind);
        expect(size === undefined || size.width >= 0).toBe(true);
      }),
    );
  });
});

describe("a PDF document", () => {
  const page = "<< /Type /Page /Parent 1 0 R >>";
  const compressed = (text: string) =>
    Buffer.concat([
      bytesOf("<< /Type /ObjStm /Filter /FlateDecode >>\nstream\n"),
      deflateSync(bytesOf(text)),
      bytesOf("\nendstream"),
    ]);

  test.each([
    [
      "the root of its tree",
      bytesOf(`<< /Type /Pages /Kids [] /Count 12 >> << /Count 4 /Type /Pages >>`),
      12,
    ],
    ["its pages", bytesOf(`${page}${page}`), 2],
    ["a compressed root", compressed("<< /Type /Pages /Count 7 >>"), 7],
    ["compressed pages", Buffer.concat([compressed(page), compressed(page + page)]), 3],
  ])("has the number of pages of %s", (_, document, pages) => {
    expect(countPdfPages(Buffer.concat([bytesOf("%PDF-1.7\n"), document]))).toBe(pages);
  });

  test("has an unknown number of pages if nothing says it, or it is damaged", () => {
    expect(countPdfPages(bytesOf("%PDF-1.7"))).toBeUndefined();
    const damaged = bytesOf("<< /Type /ObjStm >>\nstream\nnot compressed\nendstream");
    expect(countPdfPages(damaged)).toBeUndefined();
  });

  test("expands no more than a bound, whatever its streams contain", () => {
    const bomb = compressed(" ".repeat(80 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(200_000);
    expect(countPdfPages(Buffer.concat([bomb, bytesOf(page)]))).toBe(1);
  });

  test("is known by its header, and as encrypted by its trailer", () => {
    expect(isPdfFile(bytesOf("\n%PDF-1.4"))).toBe(true);
    expect(isPdfFile(bytesOf(`${" ".repeat(1024)}%PDF-1.4`))).toBe(false);
    expect(isEncryptedPdf(bytesOf("trailer << /Encrypt 9 0 R >>"))).toBe(true);
    expect(isEncryptedPdf(bytesOf("a text about /Encrypt"))).toBe(false);
  });
});
