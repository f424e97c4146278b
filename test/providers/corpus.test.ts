import { describe, expect, test } from "vitest";
import { Message } from "../../src/schema/message.ts";
import { CORPUS, vendorSamples } from "./corpus/index.ts";

describe("the corpus of conversations", () => {
  test("has unique names, and enough of everything", () => {
    expect(new Set(CORPUS.map(({ name }) => name)).size).toBe(CORPUS.length);
    expect(CORPUS.length).toBeGreaterThanOrEqual(60);
    const asked = CORPUS.map((one) => one.request);
    const answers = asked.flatMap(({ messages }) => messages.filter(({ role }) => role === "assistant"));
    expect(new Set(asked.map(({ thinking }) => thinking)).size).toBe(7);
    for (const { provider } of vendorSamples) {
      expect(
        answers.filter((one) => one.role === "assistant" && one.provider === provider).length,
      ).toBeGreaterThan(5);
    }
    const json = JSON.stringify(asked);
    for (const what of [
      "redacted",
      "forcedTool",
      "json-schema",
      "temperature",
      "cacheTools",
      "vendorId",
      "\\ud83c",
    ])
      expect(json).toContain(what);
  });

  test.each(CORPUS)("$name: its messages match the schema", ({ request }) => {
    for (const message of request.messages) expect(() => Message.parse(message)).not.toThrow();
  });
});
