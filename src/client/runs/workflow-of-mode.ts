import type { JobWorkMode } from "./build-job-request.ts";

/** The workflow types, as the bundle exports them. */
export const WORKFLOW_OF_MODE = {
  autonomous: "autonomous",
  pipeline: "pipeline",
  "fan-out": "fanOut",
  supervisor: "supervisor",
} as const satisfies Record<JobWorkMode["type"], string>;
