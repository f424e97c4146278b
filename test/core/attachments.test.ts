import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropic, google, local } from "../../src/config/vendor-models.ts";
import { formatAttachment, isTextFile } from "../../src/core/view/attachment.ts";
import {
  countDataBytes,
  formatDataReference,
  parseDataReference,
} from "../../src/core/view/data-reference.ts";
import { estimateContent } from "../../src/core/view/estimate.ts";
import { acceptsInput, fitToModel } from "../../src/core/view/model-input.ts";
import type { Content, FileContent, ImageContent, Message } from "../../src/schema/message.ts";

const image: ImageContent = { type: "image", mimeType: "image/png", name: "a.png", data: "A".repeat(4000) };
const pdf: FileContent = {
  type: "file",
  mimeType: "application/pdf",
  name: "a.pdf",
  pages: 3,
  data: "A".repeat(4000),
};
const notes: FileContent = {
  type: "file",
  mimeType: "text/markdown",
  name: "a.md",
  data: Buffer.from("# Hi").toString("base64"),
};
const user = (...content: Content[]): Message => ({ role: "user", content, timestamp: 1 });
const result = (...content: Content[]): Message => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "t",
  content,
  isError: false,
  timestamp: 1,
});

describe("data", () => {
  test("has as many bytes as it decodes to, also as a reference", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        expect(countDataBytes(Buffer.from(bytes).toString("base64"))).toBe(bytes.length);
      }),
    );
    const reference = { hash: "ab".repeat(32), bytes: 123 };
    expect(parseDataReference(formatDataReference(reference))).toEqual(reference);
    expect(countDataBytes(formatDataReference(reference))).toBe(123);
  });

  test("costs the same, whole or as a reference", () => {
    const data = formatDataReference({ hash: "ab".repeat(32), bytes: 3000 });
    for (const part of [image, pdf, { ...pdf, pages: undefined }]) {
      expect(estimateContent({ ...part, data } as Content)).toBe(estimateContent(part as Content));
    }
  });

  test("is no reference if it is base64", () => {
    const isReference = (data: string) => parseDataReference(data) !== undefined;
    fc.assert(fc.property(fc.base64String(), (data) => !isReference(data)));
  });
});

test.each([
  [image, "image a.png 3 KB image/png"],
  [pdf, "file a.pdf 3 KB application/pdf 3 pages"],
  [notes, "file a.md 4 bytes text/markdown"],
])("a part is described in one line: %#", (part, line) => {
  expect(formatAttachment(part)).toBe(line);
});

test("texts are sent as texts, whatever their kind", () => {
  const texts = [
    "text/plain",
    "TEXT/CSV; charset=utf-8",
    "application/json",
    "application/ld+json",
    "application/yaml",
  ];
  for (const mimeType of texts) expect(isTextFile({ mimeType }), mimeType).toBe(true);
  for (const mimeType of ["application/pdf", "application/zip", "image/png", ""]) {
    expect(isTextFile({ mimeType }), mimeType).toBe(false);
  }
});

describe("a model", () => {
  const claude = anthropic("claude-sonnet-4-5");
  const blind = { ...claude, input: [] };

  test("reads what the catalogue or its configuration says, otherwise what its protocol has", () => {
    const own = local("http://127.0.0.1:1/v1", "own");
    const abilities = [
      claude,
      blind,
      google("gemini-3-flash-preview"),
      own,
      { ...own, input: ["pdf" as const] },
    ];
    expect(abilities.map((model) => [acceptsInput(model, "image"), acceptsInput(model, "pdf")])).toEqual([
      [true, true],
      [false, false],
      [true, true],
      [true, false],
      [false, true],
    ]);
  });

  test("receives a line with the reason in place of a part that it cannot read, in prompts and in results", () => {
    const messages = [user({ type: "text", text: "See" }, image, notes), result(pdf)];
    expect(fitToModel(messages, claude)).toBe(messages);
    const reason = "the model anthropic/claude-sonnet-4-5 does not read";
    expect(fitToModel(messages, blind).map((message) => message.content)).toEqual([
      [
        { type: "text", text: "See" },
        { type: "text", text: `[The image a.png 3 KB image/png is left out: ${reason} images.]` },
        notes,
      ],
      [
        {
          type: "text",
          text: `[The file a.pdf 3 KB application/pdf 3 pages is left out: ${reason} PDF documents.]`,
        },
      ],
    ]);
  });

  test("receives no document of too many pages, and no file of an unknown kind", () => {
    const zip = { ...pdf, mimeType: "application/zip", name: "a.zip" };
    const [fitted] = fitToModel([user({ ...pdf, pages: 101 }, zip)], { ...claude, contextWindow: 200_000 });
    expect(JSON.stringify(fitted)).toMatch(
      /PDF documents of up to 100 pages.*application\/zip cannot be sent/,
    );
  });
});
