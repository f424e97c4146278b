export { RecordingsError } from "./recordings.ts";
export { type Replayed, type ReplayOptions, replayFolder } from "./replay.ts";
export { tableLine } from "./table.ts";
