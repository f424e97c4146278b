import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { ExportError } from "../../store/transcript/export/export-error.ts";
import {
  type CheckedFile,
  checkFile,
  createIdMap,
  importFile,
  type OpenFile,
} from "../../store/transcript/export/import-file.ts";
import { computeDigest, writeExportText } from "../../store/transcript/export/write-export.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { type DefinitionSummary, summariseDefinition } from "../read/definition-summary.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";
import { findDescendants } from "./find-descendants.ts";

/** What an export contains. */
export type ExportOptions = {
  /** Includes the sessions of the agents below it. */
  readonly withChildren?: boolean;
};

/** Yields the lines of a file with the session's current state. Later writes of a run are not included. */
export async function* exportSession(
  link: ClientLink,
  session: string,
  { withChildren = false }: ExportOptions = {},
): AsyncGenerator<string, void, void> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    if (transcript === undefined || (await transcript.readSession(session)) === undefined) {
      throw createUnknownSessionError(link, session);
    }
    const below = withChildren ? await findDescendants(transcript, session) : [];
    yield* writeExportText(transcript.archive, [session, ...below], new Date());
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/** How sessions are imported. */
export type ImportOptions = {
  /** The session's new id. Its own id by default. */
  readonly as?: string;
  /** Generates a new id. */
  readonly newIds?: boolean;
  /** Also imports what users have allowed with `always` in the session. Dropped by default. */
  readonly withGrants?: boolean;
  /** Accepts the definitions in the file: runs may be started with them without a confirmation. */
  readonly accept?: boolean;
};

/** What was imported. */
export type ImportResult = {
  readonly session: string;
  /** All sessions of the file, under the ids that they have here. */
  readonly sessions: readonly string[];
  /** Whether identical sessions existed already, so that nothing was changed. */
  readonly wasImported: boolean;
  /** The number of lines in the file. */
  readonly lines: number;
  /** The agents in the file: the resources that they use, and whether they may run here. */
  readonly agents: readonly (DefinitionSummary & {
    /** Whether the definition may run on this machine. */
    readonly accepted: boolean;
  })[];
  /** The number of grants in the file, and whether they were imported. */
  readonly grants: {
    /** The number of grants in the file. */
    readonly count: number;
    /** Whether they apply on this machine. */
    readonly areImported: boolean;
  };
};

/**
 * Imports what `export` wrote: all of it, or nothing. Reads the file twice, because the first pass finds all problems.
 *
 * @param file - A path, or a function that opens the file each time.
 */
export async function importSessions(
  link: ClientLink,
  file: string | OpenFile,
  { as, newIds = false, withGrants = false, accept = false }: ImportOptions = {},
): Promise<ImportResult> {
  const opened: OpenFile = typeof file === "string" ? () => createReadStream(file) : file;
  const where = typeof file === "string" ? file : "the file";
  if (as !== undefined && newIds)
    throw new HoldfastError("input-invalid", "Specify either `as` or `newIds`, not both.");
  const wanted = as !== undefined ? resolveSessionId(as) : newIds ? randomUUID() : undefined;
  try {
    const checked = await checkFile(opened);
    const names = createIdMap(checked.header.sessions, wanted);
    const sessions = checked.header.sessions.map((id) => names.get(id) ?? id);
    const session = sessions[0] ?? "";
    const { lines } = checked;
    const transcript = await link.storage.openTranscript();
    const wasImported = await isImported(transcript, checked, sessions);
    if (!wasImported) {
      for (const id of sessions) await assertIdle(link, id);
      await importFile(transcript.archive, opened, checked, names, { withGrants });
    }
    const hashes = [...checked.definitions.keys()];
    if (accept) for (const hash of hashes) await transcript.acceptDefinition(hash);
    return {
      session,
      sessions,
      wasImported,
      lines,
      agents: await Promise.all(
        [...checked.definitions].map(async ([hash, definition]) => ({
          ...summariseDefinition(definition),
          accepted: await transcript.isAccepted(hash),
        })),
      ),
      grants: { count: checked.grants.length, areImported: withGrants && !wasImported },
    };
  } catch (error) {
    throw createImportError(error, where, link, wanted ?? "");
  }
}

/** Tells whether all sessions exist and are identical. Throws if a different session has one of the ids. */
async function isImported(
  transcript: Transcript,
  { header, digest }: CheckedFile,
  sessions: readonly string[],
): Promise<boolean> {
  const records = await Promise.all(sessions.map((id) => transcript.readSession(id)));
  const knownRecords = sessions.filter((_, index) => records[index] !== undefined);
  if (knownRecords.length === 0) return false;
  const from = await Promise.all(knownRecords.map((id) => transcript.archive.readImportDigest(id)));
  if (knownRecords.length === sessions.length && from.every((one) => one === digest)) return true;
  const isOwn = sessions.every((id, index) => id === header.sessions[index]);
  if (
    isOwn &&
    knownRecords.length === sessions.length &&
    (await computeDigest(transcript.archive, sessions)) === digest
  )
    return true;
  throw new HoldfastError(
    "input-invalid",
    `${knownRecords.join(", ")} exists already and differs from the file: import it under another id with --as or --new-ids.`,
    { session: knownRecords[0] ?? "" },
  );
}

async function assertIdle(link: ClientLink, session: string): Promise<void> {
  const run = await describeRun(link, session);
  if (run === undefined || !isOpen(run)) return;
  const command = `holdfast stop ${session}`;
  throw new HoldfastError(
    "session-busy",
    `A run of session ${session} is open: nothing can be imported under its id. Wait until it ends, stop it with ` +
      `\`${command}\`, or import under another id.`,
    { session, command },
  );
}

function createImportError(error: unknown, where: string, link: ClientLink, session: string): HoldfastError {
  if (error instanceof ExportError) {
    return new HoldfastError("input-invalid", `Nothing of ${where} was imported: ${error.message}.`, {
      problems: [error.message],
      cause: error,
    });
  }
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "EACCES" || code === "EISDIR") {
    return new HoldfastError("input-invalid", `${path ?? where} cannot be read: ${message}`, {
      cause: error,
    });
  }
  return toHoldfastError(error, link, session);
}
