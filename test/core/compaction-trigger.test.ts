import fc, { double, nat, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { countLoopsInScope } from "../../src/conversation/compaction/scope.ts";
import {
  addUnreportedTokens,
  computeTriggerLevel,
  getReportedSize,
} from "../../src/core/machine/compaction-trigger.ts";
import { CompactionConfig, ContextConfig } from "../../src/schema/context.ts";

const DEFAULTS = ContextConfig.parse({});

describe("the configuration", () => {
  test("has these defaults [CTX-07, CTX-08, CTX-10.1]", () => {
    expect(DEFAULTS).toEqual({
      maxContextTokens: 100_000,
      systemPromptTokens: 4000,
      toolOutputMaxLines: 50,
      keepRecent: 10,
      keepFirst: 2,
      compaction: {
        compactAtPct: 0.9,
        budgetThresholdPct: 0.05,
        scope: { type: "fixed", loops: 3 },
        keepFirstTurns: 2,
        keepRecentTurns: 10,
        maxSummaryTokens: 2000,
        toolOutputMaxLines: 50,
        strategy: "block",
      },
    });
  });

  test("rejects a misspelt or missing key by name, and numbers that leave no room for messages", () => {
    expect(() => CompactionConfig.parse({ keepFirstTurn: 3 })).toThrow(/keepFirstTurn/);
    expect(() => ContextConfig.parse({ maxContextToken: 3 })).toThrow(/maxContextToken/);
    expect(() => ContextConfig.parse({ maxContextTokens: 4000 })).toThrow(/there is no room for messages/);
    expect(() => ContextConfig.parse({ compaction: { compactAtPct: 0.05 } })).toThrow(/no room/);
    expect(() => CompactionConfig.parse({ scope: { type: "fixed" } })).toThrow(/loops/);
  });
});

/** The part of the window that is left before `compactAtPct`, as CTX-09 defines it. */
function computeHeadroom(
  { maxContextTokens, systemPromptTokens, compaction }: ContextConfig,
  tokens: number,
) {
  return compaction.compactAtPct - systemPromptTokens / maxContextTokens - tokens / maxContextTokens;
}

describe("the trigger", () => {
  test("fires above 81,000 tokens with the defaults [CTX-09.2]", () => {
    expect(computeTriggerLevel(DEFAULTS)).toBe(81_000);
    expect(computeHeadroom(DEFAULTS, 81_000)).toBeCloseTo(0.05, 9);
    // In binary floating point, 0.102 - 0.003 is slightly below 0.099.
    const odd = ContextConfig.parse({ compaction: { compactAtPct: 0.102, budgetThresholdPct: 0.003 } });
    expect(computeTriggerLevel(odd)).toBe(5900);
  });

  test("fires at the same size with a focus message [CMP-14.2]", () => {
    const focused = ContextConfig.parse({ compaction: { focusMessage: "the prices" } });
    expect(computeTriggerLevel(focused)).toBe(81_000);
  });

  test("fires exactly when the headroom is below the threshold [CTX-09.1]", () => {
    const share = double({ min: 0.5, max: 1, noNaN: true });
    const part = double({ min: 0, max: 0.2, noNaN: true });
    fc.assert(
      property(share, part, nat(200_000), (compactAtPct, budgetThresholdPct, tokens) => {
        const config = ContextConfig.parse({ compaction: { compactAtPct, budgetThresholdPct } });
        const left = computeHeadroom(config, tokens) - budgetThresholdPct;
        if (Math.abs(left) > 1e-9) expect(tokens > computeTriggerLevel(config)).toBe(left < 0);
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("the size of a context", () => {
  const usage = { input: 100, output: 20, reasoning: 5, cacheRead: 300, cacheWrite: 40, totalTokens: 9999 };

  test("is the last report plus the estimate of later messages [CTX-05.1]", () => {
    const reported = getReportedSize(usage, 400);
    expect(reported).toEqual({ tokens: 460, estimated: 400 });
    expect(addUnreportedTokens(400, reported)).toBe(460);
    expect(addUnreportedTokens(475, reported)).toBe(535);
  });

  test("is the estimate if there is no report, or if the vendor reports zero tokens [CTX-05.2]", () => {
    expect(addUnreportedTokens(400)).toBe(400);
    const nothing = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
    expect(getReportedSize(nothing, 400)).toBeUndefined();
  });
});

describe("the scope", () => {
  test("with a fixed number includes at most that many earlier loops [CMP-05.1]", () => {
    expect(countLoopsInScope({ type: "fixed", loops: 3 }, [1, 1, 1, 1, 1], 10)).toBe(3);
    expect(countLoopsInScope({ type: "fixed", loops: 3 }, [1, 1], 10)).toBe(2);
    expect(countLoopsInScope({ type: "fixed", loops: 0 }, [1, 1], 10)).toBe(0);
  });

  test("with a token budget extends back until the window would be exceeded [CMP-05.2, CMP-12]", () => {
    const scope = { type: "token-budget" } as const;
    expect(countLoopsInScope(scope, [40, 40, 40, 40], 100)).toBe(2);
    expect(countLoopsInScope(scope, [40, 50, 50], 100)).toBe(2);
    expect(countLoopsInScope(scope, [10, 20], 100)).toBe(2);
    expect(countLoopsInScope(scope, [], 100)).toBe(0);
  });

  test("with a token budget includes the nearest loop even if it is larger than the window [CMP-05.3]", () => {
    expect(countLoopsInScope({ type: "token-budget" }, [10, 150], 100)).toBe(1);
  });
});
