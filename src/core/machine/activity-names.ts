import { STEPS, type StepActivities } from "./steps.ts";

/** Our activities that are not steps of a run: those of jobs, evaluations and retention. */
const OTHER_ACTIVITIES = [
  "inspect-child",
  "terminate-part",
  "read-answer",
  "pass-output",
  "reduce-parts",
  "open-evaluation",
  "prepare-judge",
  "select-branch",
  "apply-retention",
] as const;

export type ActivityName = keyof StepActivities | (typeof OTHER_ACTIVITIES)[number];

/**
 * The types of our own activities. Every other activity type is the name of a tool, so no tool may have one of these
 * names. `Activities` is built from this list: an activity that is missing here does not compile.
 */
export const ACTIVITY_NAMES: readonly ActivityName[] = [
  ...Object.values(STEPS).map(({ activity }) => activity),
  ...OTHER_ACTIVITIES,
];
