import { expect, test } from "vitest";
import { Definitions, parseDefinition } from "../../src/activities/step/definitions.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";

/** As the first release stored them: without any later field. */
const OLD = {
  name: "old",
  model: {
    id: "m",
    api: "anthropic_messages",
    provider: "anthropic",
    baseUrl: "http://127.0.0.1:1",
    contextWindow: 1000,
  },
};

function holding(stored: unknown): Definitions {
  return new Definitions({ readDefinition: async () => stored } as unknown as Transcript);
}

test("a definition stored by an older release is read with the current defaults [CMP-16.1]", async () => {
  const definition = await holding(OLD).read("hash");
  expect(definition.permissions).toEqual({ rules: [], otherwise: "ask-unsafe" });
  expect(definition.context?.maxContextTokens).toBe(100_000);
  expect(definition.inputFilters).toEqual([]);
  expect(definition.nudges.max).toBe(2);
});

test("a definition that this release cannot read is rejected with the reason", async () => {
  await expect(holding({ ...OLD, limits: "none" }).read("hash")).rejects.toThrow(/not valid: limits/);
});

test("a definition names at most sixteen input filters, since each filter checks every message", () => {
  const naming = (count: number) => ({ ...OLD, inputFilters: Array(count).fill("one") });
  expect(parseDefinition(naming(16)).inputFilters).toHaveLength(16);
  expect(() => parseDefinition(naming(17))).toThrow(/not valid: inputFilters/);
});
