import { STEPS, type StepActivities } from "./steps.ts";

/** Our activities that are not steps of a run: those of jobs, evaluations and retention. */
const OTHER_ACTIVITIES = [
  "look-at-child",
  "end-part",
  "last-words",
  "hand-over",
  "reduce-parts",
  "open-evaluation",
  "weigh",
  "decide",
  "retain",
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
