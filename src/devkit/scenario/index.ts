export type { ScenarioEvent } from "./events.ts";
export { jsonLines } from "./json-lines.ts";
export { playPlain } from "./plain.ts";
export type { Played } from "./played.ts";
export { loadScenarios, type Report, readableLines, runScenario } from "./run.ts";
export { ScenarioError } from "./scenario-error.ts";
export { readScenarios, Scenario, type ScenarioInput } from "./schema.ts";
export { openScenarioServer, type ScenarioServer, type ScenarioServerOptions } from "./server.ts";
