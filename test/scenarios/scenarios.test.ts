import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkExpectation } from "../../src/devkit/scenario/expectation-check.ts";
import { playPlain } from "../../src/devkit/scenario/plain.ts";
import { readScenarios } from "../../src/devkit/scenario/schema.ts";

const FOLDER = new URL("./", import.meta.url);

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".json"))) {
  describe(file, () => {
    for (const scenario of readScenarios(JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")))) {
      test(`${scenario.name} [${scenario.proves.join(", ")}]`, async () => {
        const { played } = await playPlain(scenario);
        expect(scenario.expect).toBeDefined();
        expect(checkExpectation(scenario.expect, played).join("\n")).toBe("");
      });
    }
  });
}
