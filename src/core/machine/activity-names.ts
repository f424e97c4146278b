import { STEPS, type StepActivities } from "./steps.ts";

/** The activity type of calls of tools that have none of their own, which are the tools of a source in a worker of others. */
export const CALL_TOOL = "call-tool";

/** The activities by which other workflows start agents and send them texts. */
export const PREPARE_AGENT = "prepare-agent";
export const STORE_MESSAGE = "store-message";

/**
 * Our activities that are not steps of a run: those of jobs, evaluations and retention, and those that only workers of
 * other applications need.
 */
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
  "take-cells",
  "answer-cells",
  "prepare-cells",
  "finish-cells",
  "end-suite",
  PREPARE_AGENT,
  STORE_MESSAGE,
  CALL_TOOL,
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
