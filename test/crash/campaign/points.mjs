import { KILL_POINTS } from "../../../dist/platform/kill-point.js";

/** Around what the server is told, which goes through the SDK; `arm-kill-point.mjs` passes these. */
const SERVER_POINTS = ["activity", "workflow", "continue-as-new"].flatMap((kind) => [
  `${kind}:told-before`,
  `${kind}:told`,
]);

export const POINTS = [...KILL_POINTS, ...SERVER_POINTS];

/** Passed once or so in the life of a worker, and only where another one has died before. */
export const FAILOVER_POINTS = POINTS.filter((point) => point.startsWith("recovery:"));
