export { evaluation } from "./evaluation.ts";
export type { EvaluationRequest, EvaluationResult } from "./evaluation-input.ts";
export { agent } from "./loop.ts";
