/** Changes in what workflows do, by the permanent id under which Temporal keeps them apart in a history. */
export const PATCHES = {
  /** A step that a worker gave back when it was asked to end counts for no death over it. */
  handedBackInOrder: "handed-back-in-order",
  /** A job's own step whose worker was lost is made again instead of ending the job. */
  jobStepsAgain: "job-steps-again",
  /** A part that does not answer a stop is terminated after a while. */
  deafPartsEnd: "deaf-parts-end",
  /** A stop ends a function of an application that puts answers together, or chooses among them. */
  stopEndsOwnSteps: "stop-ends-own-steps",
} as const;
