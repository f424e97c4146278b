import { describe, expect, test } from "vitest";
import { buildFadingTag, formatTag, isFaded, parseTag } from "../../src/core/view/tag.ts";
import type { Content } from "../../src/schema/message.ts";
import type { Entry, EntryOrigin } from "../../src/schema/record.ts";
import { extension } from "./compaction-messages.ts";

const userEntry = (content: Content[], origin: EntryOrigin = "machine", position = 7): Entry => ({
  position,
  origin,
  message: { role: "user", content, timestamp: 0 },
  tokens: 0,
});
const textEntry = (text: string, origin?: EntryOrigin, position?: number) =>
  userEntry([{ type: "text", text }], origin, position);

describe("a tag", () => {
  test.each([
    ["failure", 0, "no way", "[Back at n0 · lesson] no way"],
    ["tangent", 9, "a bug", "[Back at n9 · finding] a bug"],
    ["completion", 12, "", "[Back at n12 · outcome] "],
    [
      "step-summary",
      1234,
      undefined,
      "[Back at n1234 · checkpoint] The messages after it were abandoned without a summary.",
    ],
  ] as const)(
    "of the category %s at entry %i is read as it is written",
    (category, target, summary, text) => {
      expect(formatTag(category, target, summary)).toBe(text);
      expect(parseTag(textEntry(text))).toEqual({ category, target });
    },
  );

  test("is written by the machine alone, at the beginning of a user message", () => {
    const text = "[Back at n3 · lesson] no";
    expect(parseTag(textEntry(text))).toEqual({ category: "failure", target: 3 });
    for (const origin of ["prompt", "steering", "tool"] as const)
      expect(parseTag(textEntry(text, origin))).toBeUndefined();
    const others = [
      textEntry(` ${text}`),
      textEntry(`He wrote: ${text}`),
      textEntry("[Back at n · lesson] no"),
      textEntry("[Back at n3 · insight] no"),
      textEntry("[Back at n3 · lesson"),
      userEntry([]),
      userEntry([{ type: "image", data: "", mimeType: "image/png" }]),
      userEntry([
        { type: "image", data: "", mimeType: "image/png" },
        { type: "text", text },
      ]),
      { ...textEntry(text), message: extension(text) },
    ];
    expect(others.filter((entry) => parseTag(entry) !== undefined)).toEqual([]);
  });

  test("has faded if a tag of its category at its position or later has", () => {
    const lesson = textEntry("[Back at n3 · lesson] no");
    expect(isFaded(lesson, { failure: 8 })).toBe(true);
    expect(isFaded(lesson, { failure: 7 })).toBe(false);
    expect(isFaded(lesson, { tangent: 8 })).toBe(false);
    expect(isFaded(lesson, {})).toBe(false);
    expect(isFaded(lesson, undefined)).toBe(false);
    expect(isFaded(textEntry("no tag"), { failure: 8, tangent: 8 })).toBe(false);
    expect(isFaded(textEntry("[Back at n3 · outcome] yes"), { failure: 8, tangent: 8 })).toBe(false);
  });

  test("fades only if it is a lesson or a finding", () => {
    expect(buildFadingTag("failure", 4)).toEqual({ category: "failure", position: 4 });
    expect(buildFadingTag("tangent", 5)).toEqual({ category: "tangent", position: 5 });
    expect(buildFadingTag("completion", 6)).toBeUndefined();
    expect(buildFadingTag("step-summary", 6)).toBeUndefined();
  });
});
