import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  clipMessage,
  clipText,
  formatEntry,
  MIN_CLIPPED_CHARS,
} from "../../src/conversation/compaction/clip.ts";
import type { AgentMessage, ToolResultMessage, UserMessage } from "../../src/schema/message.ts";
import { anyCodePoint } from "../support/any-code-point.ts";
import { entriesOf, result, texts, user } from "./compaction-messages.ts";

describe("a clipped text", () => {
  test("keeps head and tail around a marker that names the tool, the message and the position", () => {
    expect(clipText(`${"a".repeat(500)}${"b".repeat(500)}`, 320, 7)).toBe(
      `${"a".repeat(106)}\n\n[... 789 characters omitted; to read them, call read_full_message with {"message": 7, "from": 106} ...]\n\n${"b".repeat(105)}`,
    );
  });

  test("exceeds neither its limit nor its original length, and splits no character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCodePoint, maxLength: 2000, size: "max" }),
        fc.integer({ min: MIN_CLIPPED_CHARS, max: 1500 }),
        (text, most) => {
          const clipped = clipText(text, most, 12);
          expect(clipped.length).toBeLessThanOrEqual(Math.max(most, 0));
          expect(clipped.length).toBeLessThanOrEqual(text.length);
          if (clipped === text) return;
          const found = /\[\.\.\. (\d+) characters omitted.*"from": (\d+)/.exec(clipped);
          expect(found).not.toBeNull();
          const [omitted, from] = [Number(found?.[1]), Number(found?.[2])];
          expect(clipped.startsWith(text.slice(0, from))).toBe(true);
          expect(clipped.endsWith(text.slice(from + omitted))).toBe(true);
          const isWellFormed = (part: string) => !/\p{Surrogate}/u.test(part);
          if (isWellFormed(text)) expect(isWellFormed(clipped)).toBe(true);
        },
      ),
    );
  });
});

describe("a message to be clipped", () => {
  const image = (bytes: number) =>
    ({ type: "image", data: "A".repeat(bytes), mimeType: "image/png" }) as const;

  test("has its characters counted over all its text parts, and keeps small images", () => {
    const said = user("") as UserMessage;
    const parts = [
      { type: "text" as const, text: "x".repeat(600) },
      image(8),
      { type: "text" as const, text: "yy" },
    ];
    const clipped = clipMessage({ ...said, content: parts }, 3, 400);
    expect(clipped.content.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(texts([clipped])[0]).toMatch(/"message": 3, "from": \d+\} \.\.\.\]\n\nx*\nyy$/);
  });

  test("names a large image instead of showing it", () => {
    const shown = { ...(result("a", "see") as ToolResultMessage), content: [image(400_000)] };
    expect(texts([clipMessage(shown, 4, 400)])).toEqual([
      '[An image is omitted; to see it, call read_full_message with {"message": 4, "image": 0}]',
    ]);
  });

  test("names a large file, with its size, instead of showing it", () => {
    const file = {
      type: "file",
      mimeType: "application/pdf",
      name: "a.pdf",
      pages: 9,
      data: "AAAA",
    } as const;
    const shown = { ...(result("a", "see") as ToolResultMessage), content: [file] };
    expect(texts([clipMessage(shown, 4, 400)])).toEqual([
      '[The file a.pdf 3 bytes application/pdf 9 pages is omitted; to read it, call read_full_message with {"message": 4, "image": 0}]',
    ]);
  });

  test("is returned unchanged if it fits", () => {
    const said = user("short") as UserMessage;
    expect(clipMessage(said, 0, 400)).toBe(said);
  });

  test("of a tool is cut to lines, or, if these are too long, clipped from its whole text", () => {
    const text = Array.from({ length: 60 }, (_, line) => `${line}: ${"x".repeat(100)}`).join("\n");
    const entry = { position: 5, message: result("a", text), origin: "machine" as const };
    const [cut] = texts([formatEntry(entry, { maxLines: 4, maxChars: 2_000 })]);
    expect(cut).toContain("56 lines truncated");
    const [clipped = ""] = texts([formatEntry(entry, { maxLines: 40, maxChars: 1_000 })]);
    const [, omitted, from] = /(\d+) characters omitted.*"message": 5, "from": (\d+)/.exec(clipped) ?? [];
    expect(clipped.startsWith(text.slice(0, Number(from)))).toBe(true);
    expect(clipped.endsWith(text.slice(Number(from) + Number(omitted)))).toBe(true);
  });

  test("is clipped by the limit for user messages only if a user wrote it, and not by the limits for results", () => {
    const [entry] = entriesOf([user("w".repeat(900))]);
    if (entry === undefined) throw new Error("there is one");
    const length = (message: AgentMessage) => texts([message])[0]?.length;
    expect(length(formatEntry(entry, { maxUserChars: 400 }))).toBeLessThanOrEqual(400);
    expect(length(formatEntry(entry, { maxChars: 400, maxLines: 1 }))).toBe(900);
    expect(length(formatEntry({ ...entry, origin: "machine" }, { maxUserChars: 400 }))).toBe(900);
  });
});
