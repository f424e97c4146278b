import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkDescriptions } from "../support/property-descriptions.ts";

test("every property of agent.schema.json has a description", () => {
  const text = readFileSync(join(import.meta.dirname, "../../agent.schema.json"), "utf8");
  const { all, bare } = checkDescriptions(JSON.parse(text) as object);
  expect(all.length).toBeGreaterThan(200);
  expect(bare).toEqual([]);
});
