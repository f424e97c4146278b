/** The `toolCallId` of progress that belongs to no call. */
export const PROGRESS_SOURCES = {
  /** What an answer waits for. */
  model: "model",
  /** Live output that was dropped. */
  liveOutput: "live-output",
  /** A warning of an evaluation. */
  evaluation: "evaluation",
} as const;
