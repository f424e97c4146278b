import { withoutPassword } from "../postgres/target.ts";
import type { TranscriptPlace } from "./open-transcript.ts";
import { MIGRATIONS } from "./postgres/schema.ts";
import { LATEST } from "./sqlite/migrations.ts";

/** What people are told of a transcript's place, and the version of its tables. Never a password. */
export function described({ path, database }: TranscriptPlace): { path: string; schema: number } {
  return database === undefined
    ? { path, schema: LATEST }
    : { path: withoutPassword(database), schema: MIGRATIONS.length };
}
