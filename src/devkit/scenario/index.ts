export type { ScenarioEvent } from "./events.ts";
export { formatJsonLines } from "./json-lines.ts";
export { playPlain } from "./plain.ts";
export type { PlayResult } from "./play-result.ts";
export { formatReport, loadScenarios, runScenario, type ScenarioReport } from "./run-scenario.ts";
export { ScenarioError } from "./scenario-error.ts";
export { openScenarioServer, type ScenarioServer, type ScenarioServerOptions } from "./scenario-server.ts";
export { readScenarios, Scenario, type ScenarioInput } from "./schema.ts";
