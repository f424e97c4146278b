import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runScenario } from "../../src/devkit/scenario/run-scenario.ts";
import { readScenarios } from "../../src/devkit/scenario/schema.ts";

const page = readFileSync(new URL("../../docs/scenarios.md", import.meta.url), "utf8");
const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => JSON.parse(text));

describe("the examples of docs/scenarios.md play as the page states", () => {
  test("there are three", () => expect(examples).toHaveLength(3));

  test.each(readScenarios(examples).map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (_, scenario) => {
      const { problems } = await runScenario(scenario);
      expect(scenario.expect).toBeDefined();
      expect(problems).toEqual([]);
    },
  );
});
