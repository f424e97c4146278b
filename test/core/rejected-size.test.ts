import { describe, expect, test } from "vitest";
import { computeTarget } from "../../src/conversation/compaction/target.ts";
import { parseOverflowSize } from "../../src/conversation/overflow-size.ts";
import {
  buildContextConfig,
  computeInputRoom,
  computeTriggerLevel,
} from "../../src/core/machine/compaction-trigger.ts";
import { ContextConfig } from "../../src/schema/context.ts";

describe("the sizes in a vendor's overflow error", () => {
  test.each([
    ["anthropic answered 400: prompt is too long: 208000 tokens > 200000 maximum", 208_000, 200_000],
    ["36000 > 32000", 36_000, 32_000],
    ["input length and `max_tokens` exceed context limit: 184915 + 20000 > 204648", 184_915, 184_648],
    [
      "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).",
      1_200_000,
      1_048_576,
    ],
    [
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      537_812,
      131_072,
    ],
    ["request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it", 4476, 4096],
    ["Your request exceeded model token limit: 262144 (requested: 269030)", 269_030, 262_144],
    ["prompt token count of 65446 exceeds the limit of 64000", 65_446, 64_000],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      9000,
      8192,
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (6000 in the messages, 4000 in the completion).",
      6000,
      4192,
    ],
    [
      "This endpoint's maximum context length is 128000 tokens. However, you requested about 150000 tokens (140000 of text input, 5000 of tool input, 5000 in the output).",
      145_000,
      123_000,
    ],
    [
      "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      40_000,
      32_768,
    ],
  ])("are parsed: %s", (said, asked, limit) => {
    expect(parseOverflowSize(said)).toEqual({ requested: asked, limit });
  });

  test.each([
    "Input is too long for requested model.",
    "invalid params, context window exceeds limit (2013)",
    "gpt-4-32k-0613 answered 400: Please reduce the length of the messages",
    "400 status code (no body)",
    "too many tokens: 32000 of 32000",
  ])("are not guessed: %s", (said) => {
    expect(parseOverflowSize(said)).toBeUndefined();
  });
});

describe("the target size of a compaction", () => {
  const context = ContextConfig.parse({});
  const sent = { estimated: 14_000, reportedTokens: 14_000, overheadTokens: 1000, window: 190_000 };
  const overflow = (said: string) => ({ type: "overflow" as const, said });

  test("is the trigger level if the view has grown or the user requests the compaction [X-11.1]", () => {
    expect(computeTarget(context, { type: "size" }, sent)).toBe(81_000);
    expect(computeTarget(context, { type: "request" }, sent)).toBe(81_000);
  });

  test("is lower if the vendor counts more tokens than the estimate", () => {
    expect(computeTarget(context, { type: "size" }, { ...sent, reportedTokens: 29_000 })).toBe(40_500);
  });

  test("follows the numbers in the vendor's error, converted to estimated tokens", () => {
    // The vendor counts 30,000 for our estimate of 15,000 and accepts 20,000: our 10,000, less a tenth and the overhead.
    expect(computeTarget(context, overflow("30000 tokens > 20000 maximum"), sent)).toBe(8000);
  });

  test("is derived from the model's window if the error has no numbers", () => {
    const large = { ...sent, estimated: 70_000, reportedTokens: 70_000, window: 50_000 };
    expect(computeTarget(context, overflow("Input is too long"), large)).toBe(44_000);
  });

  test("is half of what was sent if neither is usable, and always less than what was sent [OVF-05.1]", () => {
    expect(computeTarget(context, overflow("Input is too long"), sent)).toBe(7000);
    expect(computeTarget(context, overflow("900000 > 1000"), sent)).toBe(7000);
    expect(computeTarget(context, overflow("36000 > 35999"), { ...sent, overheadTokens: 0 })).toBeLessThan(
      14_000,
    );
  });
});

describe("the model's context window", () => {
  const asking = (contextWindow: number, maxTokens = 8192) => ({ model: { contextWindow, maxTokens } });

  test("limits the context, less the longest answer, if it is smaller than the configured limit", () => {
    const context = ContextConfig.parse({});
    expect(buildContextConfig(context, asking(200_000))).toBe(context);
    expect(computeInputRoom(asking(32_000))).toBe(24_000);
    const small = buildContextConfig(context, asking(32_000));
    expect(small).toMatchObject({ maxContextTokens: 24_000, systemPromptTokens: 960 });
    expect(computeTriggerLevel(small)).toBe(19_440);
    expect(computeTriggerLevel(buildContextConfig(context, asking(4096)))).toBeGreaterThan(2000);
  });

  test("reserves at most a quarter for an answer, or the definition's own `maxTokens`", () => {
    expect(computeInputRoom(asking(100_000, 64_000))).toBe(75_000);
    expect(computeInputRoom({ ...asking(100_000, 64_000), maxTokens: 1000 })).toBe(99_000);
  });
});
