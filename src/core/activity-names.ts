/**
 * The types of our own activities. Every other activity type is the name of a tool, so no tool may have one of these
 * names. `Activities` is made of this list: an activity that is missing here does not compile.
 */
export const ACTIVITY_NAMES = [
  "open-loop",
  "model",
  "compact",
  "run-hook",
  "filter-input",
  "move-definition",
  "close-loop",
  "look-at-child",
  "end-part",
  "last-words",
  "hand-over",
  "reduce-parts",
  "record",
  "open-evaluation",
  "weigh",
  "decide",
  "retain",
] as const;

export type ActivityName = (typeof ACTIVITY_NAMES)[number];
