import { readdirSync, readFileSync } from "node:fs";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { playPlain } from "../../src/devkit/scenario/plain.ts";
import { comparePlays } from "../../src/devkit/scenario/run-scenario.ts";
import { openScenarioServer, type ScenarioServer } from "../../src/devkit/scenario/scenario-server.ts";
import { readScenarios } from "../../src/devkit/scenario/schema.ts";
import { createWorker } from "../../src/worker.ts";
import { thoroughTest } from "../support/test-depth.ts";

const FOLDER = new URL("../scenarios/", import.meta.url);
const FILES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .map((file) => ({
    file,
    scenarios: readScenarios(JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"))),
  }));

/** The files of which `npm test` plays the first scenario; what the others show has server tests of its own. */
const QUICK_FILES = [
  "crashes",
  "filters",
  "limits",
  "raised-limits",
  "recovery",
  "steering",
  "view-tools",
].map((name) => `${name}.json`);

let server: ScenarioServer;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  const { address, namespace } = inject("temporal");
  const scenarios = FILES.flatMap((file) => file.scenarios);
  server = await openScenarioServer({ address, namespace, createWorker }, scenarios);
});
afterAll(() => server.close());

for (const { file, scenarios } of FILES) {
  describe(`${file}, on a server as without one`, () => {
    for (const [index, scenario] of scenarios.entries()) {
      const run = index === 0 && QUICK_FILES.includes(file) ? test : thoroughTest;
      run(`${scenario.name} [${scenario.proves.join(", ")}]`, async () => {
        const served = await server.play(scenario);
        expect(comparePlays((await playPlain(scenario)).played, served).join("\n")).toBe("");
      });
    }
  });
}
