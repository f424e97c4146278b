import { expect, test } from "vitest";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { resolveSessionId } from "../../src/client/resolve-session-id.ts";
import { createMessageInput, INLINE_BYTES } from "../../src/client/runs/message-input.ts";
import { buildStartAttributes, formatSummary, formatTitle } from "../../src/client/runs/run-labels.ts";
import { getTitleSetting } from "../../src/client/runs/run-title.ts";
import { MAX_MESSAGE_BYTES } from "../../src/core/machine/append-message.ts";

/** A link whose transcript accepts texts and nothing else. */
function linkWithTexts(): { link: ClientLink; texts: string[] } {
  const texts: string[] = [];
  const putText = async (text: string) => `hash-${texts.push(text)}`;
  return { link: { storage: { openTranscript: async () => ({ putText }) } } as unknown as ClientLink, texts };
}

test("texts up to 32 KiB of UTF-8 travel inline, and never touch the transcript", async () => {
  const { link, texts } = linkWithTexts();
  const text = "x".repeat(INLINE_BYTES);
  expect(await createMessageInput(link, text, "prompt", { id: "id-1" })).toEqual({ id: "id-1", text });
  expect(texts).toEqual([]);
});

test("a text that is one byte longer is stored first: bytes count, not characters", async () => {
  const { link, texts } = linkWithTexts();
  const text = `${"é".repeat(INLINE_BYTES / 2)}x`;
  expect(text.length).toBeLessThan(INLINE_BYTES);
  expect(await createMessageInput(link, text, "prompt", { id: "id-2" })).toEqual({
    id: "id-2",
    ref: "hash-1",
  });
  expect(texts).toEqual([text]);
});

test("a text of more than 10 MB is rejected with both numbers, and nothing is stored", async () => {
  const { link, texts } = linkWithTexts();
  await expect(createMessageInput(link, "x".repeat(MAX_MESSAGE_BYTES + 1), "prompt")).rejects.toMatchObject({
    code: "input-too-large",
    facts: { bytes: MAX_MESSAGE_BYTES + 1, maxBytes: MAX_MESSAGE_BYTES },
  });
  expect(texts).toEqual([]);
});

test.each(["", "  \n "])("an empty text (%j) is rejected", async (text) => {
  await expect(createMessageInput(linkWithTexts().link, text, "steering message")).rejects.toThrow(
    "The steering message is empty",
  );
});

test("metadata travels with the message, as JSON has it", async () => {
  const metadata = { request: "r-17", at: new Date(0), nothing: undefined };
  expect(await createMessageInput(linkWithTexts().link, "Go", "prompt", { id: "m", metadata })).toEqual({
    id: "m",
    text: "Go",
    metadata: { request: "r-17", at: "1970-01-01T00:00:00.000Z" },
  });
});

test.each([
  ["is not an object", ["r-17"] as never, "must be an object"],
  ["has a cycle", cycle(), "must be an object that JSON can express"],
  ["is longer than 2 KiB as JSON", { x: "é".repeat(1021) }, "has 2050 bytes as JSON; the maximum is 2048"],
])("metadata that %s is rejected, and nothing is stored", async (_, metadata, problem) => {
  const { link, texts } = linkWithTexts();
  const sent = createMessageInput(link, "x".repeat(INLINE_BYTES + 1), "prompt", { metadata });
  await expect(sent).rejects.toThrow(problem);
  expect(texts).toEqual([]);
});

function cycle(): Record<string, unknown> {
  const metadata: Record<string, unknown> = {};
  metadata["self"] = metadata;
  return metadata;
}

test("an id that no store accepts is rejected", async () => {
  await expect(
    createMessageInput(linkWithTexts().link, "words", "prompt", { id: "a\0b" }),
  ).rejects.toMatchObject({
    code: "input-invalid",
    message: expect.stringContaining('"a\\u0000b"'),
  });
});

test("each message has an id of its own unless the sender supplies one", async () => {
  const { link } = linkWithTexts();
  const [first, second] = [
    await createMessageInput(link, "a", "prompt"),
    await createMessageInput(link, "a", "prompt"),
  ];
  expect(first.id).not.toBe(second.id);
});

test("a summary is one short line, and contains no key", () => {
  const key = ["sk", "ant", "0123456789abcdefghij"].join("-");
  const summary = formatSummary(`use ${key}\nand then ${"long ".repeat(200)}`);
  expect(summary).not.toContain(key);
  expect(summary).not.toContain("\n");
  expect(Buffer.byteLength(JSON.stringify(summary))).toBeLessThan(400);
});

test("without a definition, the run determines agent and model", () => {
  const names = buildStartAttributes("s-1", undefined, undefined).map(({ key }) => key.name);
  expect(names.sort()).toEqual(["HoldfastCostUsd", "HoldfastSession", "HoldfastStatus", "HoldfastTurns"]);
});

test("a title is a search attribute, which is never encrypted, only where payloads are plain and content is not redacted", () => {
  const link = { settings: {}, searchAttributes: true };
  expect(getTitleSetting(link)).toEqual({ title: "attribute" });
  expect(getTitleSetting({ ...link, isEncrypted: true })).toEqual({ title: "details" });
  expect(getTitleSetting({ ...link, searchAttributes: false })).toEqual({ title: "details" });
  expect(getTitleSetting({ ...link, settings: { redactContent: true } })).toEqual({});
});

test("the summary of a long title ends with the agent's whole name", () => {
  const summary = formatTitle("ü".repeat(120), "reviewer");
  expect(summary).toMatch(/ü\.\.\. · reviewer$/);
  expect(Buffer.byteLength(JSON.stringify(summary))).toBeLessThan(400);
});

test.each(["", "a b", "a/b", "a\nb", "x".repeat(201)])("%j is not a valid session id", (id) => {
  expect(() => resolveSessionId(id)).toThrow(expect.objectContaining({ code: "input-invalid" }));
});

test("a session without an id gets a new one", () => {
  expect(resolveSessionId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(resolveSessionId("mine")).toBe("mine");
});
