import { maskPassword } from "../postgres/database-target.ts";
import type { TranscriptLocation } from "./open-transcript.ts";
import { MIGRATIONS } from "./postgres/schema.ts";
import { LATEST_VERSION } from "./sqlite/migrations.ts";

/** Describes a transcript's location and the version of its tables for users, without a password. */
export function describeTranscript({ path, database }: TranscriptLocation): { path: string; schema: number } {
  return database === undefined
    ? { path, schema: LATEST_VERSION }
    : { path: maskPassword(database), schema: MIGRATIONS.length };
}
