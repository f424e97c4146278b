import { expect, test } from "vitest";
import { admitFiles } from "../../src/activities/tool/admit-files.ts";
import { formatDataReference } from "../../src/core/view/data-reference.ts";
import type { ToolOutput } from "../../src/tools/tool-execution.ts";
import { PDF, PNG } from "../support/media.ts";

const admit = (...content: ToolOutput["content"]) => admitFiles({ content }).content;
const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

test("data that looks like a reference to stored data is never admitted", () => {
  const data = formatDataReference({ hash: "a".repeat(64), bytes: 4096 });
  for (const part of [
    { type: "image", mimeType: "image/png", data } as const,
    { type: "file", mimeType: "application/pdf", name: "a.pdf", data } as const,
  ]) {
    const [admitted] = admit(part);
    expect(admitted).toEqual({ type: "text", text: expect.stringContaining("its data is not base64") });
    expect(JSON.stringify(admitted)).not.toContain("stored:");
  }
});

test("the bytes decide what a file is, whatever the tool says", () => {
  expect(admit({ type: "image", mimeType: "image/jpeg", data: encode(PNG) })).toEqual([
    { type: "image", mimeType: "image/png", data: encode(PNG) },
  ]);
  expect(admit({ type: "image", mimeType: "image/png", data: encode(PDF) })).toEqual([
    { type: "file", mimeType: "application/pdf", name: "document.pdf", data: encode(PDF), pages: 1 },
  ]);
  const notes = {
    type: "file",
    mimeType: "application/zip",
    name: "notes.md",
    data: encode(Buffer.from("Hi")),
  } as const;
  expect(admit(notes)).toEqual([{ ...notes, mimeType: "text/plain" }]);
});

test.each([
  ["neither an image", Buffer.from([0, 1, 2, 3])],
  ["empty", Buffer.alloc(0)],
  ["encrypted", Buffer.from("%PDF-1.7\ntrailer << /Encrypt 5 0 R >>")],
  ["the maximum is 1.0 MB", Buffer.alloc(1024 * 1024 + 1, "a")],
])("a file is left out with a reason: %s", (reason, bytes) => {
  const text = admit({ type: "file", mimeType: "application/x", name: "a.bin", data: encode(bytes) })[0];
  expect(text).toEqual({ type: "text", text: expect.stringContaining(reason) });
  expect(text).toEqual({
    type: "text",
    text: expect.stringMatching(/^\[The file a\.bin application\/x is omitted: /),
  });
});

test("files that are too large together are left out, and texts stay as they are", () => {
  const image = Buffer.concat([PNG, Buffer.alloc(12 * 1024 * 1024)]);
  const part = { type: "image", mimeType: "image/png", data: encode(image) } as const;
  const text = { type: "text", text: "stored:" } as const;
  const admitted = admit(text, part, part, { ...part, data: encode(PNG) });
  expect(admitted.map(({ type }) => type)).toEqual(["text", "image", "text", "image"]);
});
