// Which types public signatures may name although no entry point exports them.
/**
 * The inputs of workflows that Holdfast's own client and `startAgent` write. The functions are exported so that a bundle of
 * workflows has them, and nobody else calls them.
 */
const WORKFLOW_INPUTS = [
  "src/workflows/autonomous.ts:AutonomousInput",
  "src/workflows/job-input.ts:FanOutRequest",
  "src/workflows/job-input.ts:PipelineRequest",
  "src/workflows/job-input.ts:SupervisorRequest",
  "src/workflows/retention.ts:RetentionRequest",
  "src/workflows/run-input.ts:RunInput",
];

/** Types that public signatures name and no entry point exports, as `file:name`. Each group above says why. */
export const INTERNAL_TYPES = [...WORKFLOW_INPUTS];
