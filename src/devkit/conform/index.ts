export { RecordingsError } from "./recordings.ts";
export { type ReplayOptions, type ReplayResult, replayFolder } from "./replay.ts";
export { formatRow } from "./table.ts";
