import { describe, expect, test } from "vitest";
import { isOverflow, isOverflowText, OVERFLOW_PHRASES } from "../../src/platform/text/overflow.ts";

describe("the phrases", () => {
  test("are the nine of the requirements and six additional ones, each with its source [OVF-03.1-2, GAP-02]", () => {
    const ours = OVERFLOW_PHRASES.filter((phrase) => phrase.isOurs === true);
    const theirs = OVERFLOW_PHRASES.filter((phrase) => phrase.isOurs !== true);
    expect(theirs.map(({ phrase }) => phrase)).toEqual([
      "prompt is too long",
      "input is too long",
      "exceeds the context window",
      "exceeds the maximum",
      "maximum prompt length",
      "reduce the length of the messages",
      "maximum context length",
      "context length exceeded",
      "too many tokens",
    ]);
    expect(theirs.every(({ source }) => source === "OVF-03")).toBe(true);
    expect(ours.map(({ vendor }) => vendor)).toEqual([
      "llama.cpp",
      "LM Studio",
      "MiniMax",
      "Kimi",
      "GitHub Copilot",
      "Anthropic",
    ]);
    for (const { source } of ours) expect(source).toMatch(/^https:\/\/github\.com\//);
  });

  test.each(OVERFLOW_PHRASES)("$vendor: $phrase [OVF-02.2, OVF-03.1-2]", ({ phrase }) => {
    expect(phrase).toBe(phrase.toLowerCase());
    expect(isOverflowText(`Error: ${phrase.toUpperCase()}: 5 > 4`)).toBe(true);
    expect(isOverflow(500, phrase)).toBe(true);
  });

  test.each([
    ["llama.cpp", "the request exceeds the available context size. try increasing the context size"],
    [
      "LM Studio",
      "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).",
    ],
    ["MiniMax", "invalid params, context window exceeds limit (2013)"],
    ["Kimi", "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)"],
    ["GitHub Copilot", "prompt token count of 65446 exceeds the limit of 64000"],
    ["Anthropic", "input length and `max_tokens` exceed context limit: 184915 + 20000 > 204648"],
    ["OpenAI", '{"error":{"code":"context_length_exceeded"}}'],
  ])("match a real message of %s [OVF-03.2]", (_vendor, words) => {
    expect(isOverflow(400, words)).toBe(true);
  });
});

describe("the status", () => {
  test("400 and 413 with an empty body are an overflow, other statuses are not [OVF-02.1]", () => {
    for (const status of [400, 413]) expect(isOverflow(status, " \n")).toBe(true);
    for (const status of [401, 404, 422, 429, 500]) expect(isOverflow(status, "")).toBe(false);
  });

  test("400 and 413 with another message are not an overflow [OVF-02.3, X-10]", () => {
    expect(isOverflow(400, "max_tokens must be positive")).toBe(false);
    expect(isOverflow(413, "Request too large for model, tokens per minute: Limit 10000")).toBe(false);
  });

  test("429 is an overflow only with a phrase that vendors do not also use for throttling [OVF-01.1]", () => {
    expect(isOverflow(429, "Too many tokens")).toBe(false);
    expect(isOverflow(429, "prompt is too long")).toBe(true);
  });
});
