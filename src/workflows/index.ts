export { agent } from "./agent.ts";
export { autonomous } from "./autonomous.ts";
export { evaluation } from "./evaluation.ts";
export type { EvaluationRequest, EvaluationResult } from "./evaluation-input.ts";
export { fanOut } from "./fan-out.ts";
export { pipeline } from "./pipeline.ts";
export { retention } from "./retention.ts";
export { supervisor } from "./supervisor.ts";
export { wakeJob } from "./wake-job.ts";
