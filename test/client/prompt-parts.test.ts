import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import type { PromptPart } from "../../src/client/prompts/prompt-part.ts";
import { readParts } from "../../src/client/prompts/read-parts.ts";
import { createMessageInput } from "../../src/client/runs/message-input.ts";
import { anthropic, bedrock, local, openai } from "../../src/config/vendor-models.ts";
import type { Content } from "../../src/schema/message.ts";
import type { ModelConfig } from "../../src/schema/model.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = Buffer.from("%PDF-1.4\n1 0 obj\n<< /Type /Pages /Count 3 >>\nendobj\n%%EOF\n");
const MIB = 1024 * 1024;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-parts-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const place = async (name: string, bytes: Uint8Array | string) => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
};
const read = (parts: readonly PromptPart[], ...models: ModelConfig[]) => readParts(parts, "prompt", models);
const image = (bytes: Uint8Array): PromptPart => ({ type: "image", bytes });
/** A PNG of this many pixels and bytes. */
const sized = (pixels: number, bytes = 100) => {
  const made = Buffer.alloc(bytes);
  PNG.copy(made);
  made.writeUInt32BE(pixels, 16);
  return made;
};

describe("the bytes decide what a part is", () => {
  test("an image by path, as bytes and as base64 is the same part", async () => {
    const path = await place("dot.png", PNG);
    const data = PNG.toString("base64");
    const part = { type: "image", mimeType: "image/png", data };
    expect(await read([{ type: "image", path }])).toEqual([{ ...part, name: "dot.png" }]);
    expect(await read([image(PNG), { type: "image", data, mimeType: "image/gif" }])).toEqual([part, part]);
    expect(await read([{ type: "file", path, name: "other.jpg" }])).toEqual([{ ...part, name: "other.jpg" }]);
  });

  test("a PDF document has its pages, a text its kind by its name or as its sender says", async () => {
    const texts: [string, string | undefined, string][] = [
      ["a.md", undefined, "text/markdown"],
      ["a.json", undefined, "application/json"],
      ["a.unknown", undefined, "text/plain"],
      ["a.txt", "text/x-log; charset=latin1", "text/x-log"],
      ["a.txt", "image/png", "text/plain"],
    ];
    expect(await read([{ type: "file", bytes: PDF, name: "a.pdf" }])).toEqual([
      { type: "file", mimeType: "application/pdf", name: "a.pdf", pages: 3, data: PDF.toString("base64") },
    ]);
    for (const [name, mimeType, expected] of texts) {
      const bytes = Buffer.from("Größe");
      const part = { type: "file" as const, bytes, name, ...(mimeType === undefined ? {} : { mimeType }) };
      expect(await read([part])).toMatchObject([{ mimeType: expected, data: bytes.toString("base64") }]);
    }
  });

  test.each([
    ["little-endian", Buffer.from("\ufeffGröße", "utf16le")],
    ["big-endian", Buffer.from("\ufeffGröße", "utf16le").swap16()],
  ])("UTF-16, %s, becomes UTF-8", async (_, bytes) => {
    const [part] = await read([{ type: "file", bytes, name: "a.txt" }]);
    expect(Buffer.from((part as { data: string }).data, "base64").toString("utf8")).toBe("Größe");
  });
});

describe("what cannot be sent is refused at once, with the reason", () => {
  const refusals: [string, PromptPart, string, string][] = [
    [
      "bytes of no known kind",
      { type: "file", bytes: Buffer.from([0, 159, 1]) },
      "input-invalid",
      "is neither an image",
    ],
    [
      "a text as an image",
      { type: "image", bytes: Buffer.from("hi") },
      "input-invalid",
      "is a text, not an image",
    ],
    ["a document as an image", { type: "image", bytes: PDF }, "input-invalid", 'type "file"'],
    ["no bytes at all", { type: "image", bytes: new Uint8Array() }, "input-invalid", "is empty"],
    ["no source", { type: "image" } as never, "input-invalid", "exactly one of path, data and bytes"],
    ["two sources", { type: "image", path: "a", data: "b" } as never, "input-invalid", "has path and data"],
    ["a missing file", { type: "image", path: "/nowhere/a.png" }, "input-invalid", "ENOENT"],
    ["a folder", { type: "file", path: tmpdir() }, "input-invalid", "is not a file"],
    [
      "an address",
      { type: "image", data: "data:image/png;base64,AAAA" },
      "input-invalid",
      "Remove the data: prefix",
    ],
    [
      "a reference to stored data",
      { type: "image", data: `stored:${"a".repeat(64)}:9` },
      "input-invalid",
      "not base64",
    ],
    ["another kind of part", { type: "audio" } as never, "input-invalid", '"audio"'],
    ["nothing", null as never, "input-invalid", "none"],
    [
      "an encrypted document",
      { type: "file", bytes: Buffer.concat([PDF, Buffer.from("/Encrypt 5 0 R")]) },
      "input-invalid",
      "encrypted",
    ],
    [
      "a text without an end",
      { type: "file", bytes: Buffer.alloc(11 * MIB, "a") },
      "input-too-large",
      "11.0 MB",
    ],
    ["an image that no vendor takes", image(sized(1, 23 * MIB)), "input-too-large", "23.0 MB"],
  ];
  test.each(refusals)("%s", async (_, part, code, reason) => {
    await expect(read([part])).rejects.toMatchObject({ code, message: expect.stringContaining(reason) });
  });

  const claude = anthropic("claude-sonnet-4-5");
  const blind = { ...claude, input: [] };
  const nova = bedrock("us.amazon.nova-2-lite-v1:0");
  const own = local("http://127.0.0.1:1/v1", "some-model");
  const pdf: PromptPart = { type: "file", bytes: PDF, name: "a.pdf" };
  const byModel: [string, ModelConfig, PromptPart[], string, string][] = [
    [
      "an image, for a model that reads none",
      blind,
      [image(PNG)],
      "input-unsupported",
      "claude-sonnet-4-5 does not read images",
    ],
    [
      "a document, for a model that reads none",
      blind,
      [pdf],
      "input-unsupported",
      "does not read PDF documents",
    ],
    [
      "a document, for a server of unknown abilities",
      own,
      [pdf],
      "input-unsupported",
      "does not read PDF documents",
    ],
    [
      "an image of more than 3.75 MB, for Anthropic",
      claude,
      [image(sized(1, 4 * MIB))],
      "input-too-large",
      "up to 3.8 MB",
    ],
    [
      "an image of 9000 pixels, for Anthropic",
      claude,
      [image(sized(9000))],
      "input-too-large",
      "9000 × 1 pixels",
    ],
    [
      "six documents, for Bedrock",
      nova,
      Array(6).fill(pdf),
      "input-too-large",
      "6 PDF documents; the model takes 5",
    ],
    [
      "21 images, for Bedrock",
      nova,
      Array(21).fill(image(PNG)),
      "input-too-large",
      "21 images; the model takes 20",
    ],
  ];
  test.each(byModel)("%s", async (_, model, parts, code, reason) => {
    await expect(read(parts, model)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason),
    });
  });

  test("the strictest of several models decides", async () => {
    const large = image(sized(1, 4 * MIB));
    const gpt = openai("gpt-4.1");
    expect(await read([large], gpt)).toHaveLength(1);
    await expect(read([large], gpt, claude)).rejects.toMatchObject({ code: "input-too-large" });
  });

  test("a text file is sent to every model", async () => {
    expect(await read([{ type: "file", bytes: Buffer.from("hi"), name: "a.md" }], blind)).toHaveLength(1);
  });
});

describe("a message with parts", () => {
  const stored: { id: string; content: readonly Content[] }[] = [];
  const putParts = async (id: string, content: readonly Content[]) => `hash-${stored.push({ id, content })}`;
  const link = { storage: { openTranscript: async () => ({ putParts }) } } as unknown as ClientLink;

  test("travels as the hash of its parts, whatever its size", async () => {
    const message = await createMessageInput(link, [{ type: "text", text: "see" }, image(PNG)], "prompt", {
      id: "m",
    });
    expect(message).toEqual({ id: "m", ref: "hash-1", parts: true, tokens: 86 });
    expect(stored).toMatchObject([{ id: "m", content: [{ text: "see" }, { type: "image" }] }]);
  });

  test("travels as a text if it has only texts", async () => {
    const parts = [
      { type: "text" as const, text: "one" },
      { type: "text" as const, text: "two" },
    ];
    expect(await createMessageInput(link, parts, "prompt", { id: "m" })).toEqual({
      id: "m",
      text: "one\ntwo",
    });
  });

  test.each([[[]], [[{ type: "text" as const, text: " " }]]])(
    "is refused if it has nothing: %j",
    async (parts) => {
      await expect(createMessageInput(link, parts, "prompt")).rejects.toThrow("The prompt is empty");
    },
  );
});
