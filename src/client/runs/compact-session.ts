import { compactSignal } from "../../workflows/messages.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { removeCompaction } from "../sessions/edit-session.ts";
import { getSessionRecord } from "./get-session-record.ts";
import { sessionExists } from "./queue-message.ts";
import { continueByHash } from "./start-run.ts";

/** A run ignores a longer focus. */
const MAX_FOCUS_BYTES = 2048;

/**
 * `open-run`: an open run does it before its next answer. `own-loop`: a new run was started for it. `removal`: the
 * compaction was removed, as this loop of the record says.
 */
export type CompactResult =
  | { readonly by: "open-run" }
  | {
      readonly by: "own-loop";
      /** The run that compacts the idle session. */
      readonly runId: string;
    }
  | { readonly by: "removal"; readonly loopId: string };

/** How the context is compacted. */
export type CompactOptions = {
  /** What matters most, for the model that writes the summary. */
  readonly focus?: string;
  /** Removes the compaction of an idle session instead: its next run sees every message again. */
  readonly undo?: boolean;
};

/** Starts the compaction of a session's context, and does not wait for its end. */
export async function compactSession(
  link: ClientLink,
  session: string,
  { focus, undo = false }: CompactOptions = {},
): Promise<CompactResult> {
  if (undo) return { by: "removal", loopId: (await removeCompaction(link, session)).loopId };
  const bytes = focus === undefined ? 0 : Buffer.byteLength(focus, "utf8");
  if (bytes > MAX_FOCUS_BYTES) {
    throw new HoldfastError(
      "input-too-large",
      `The focus has ${bytes} bytes; the maximum is ${MAX_FOCUS_BYTES}. Describe in a sentence or two what matters most.`,
      { session, bytes, maxBytes: MAX_FOCUS_BYTES },
    );
  }
  const request = focus === undefined || focus.trim() === "" ? {} : { focus };
  try {
    await link.client.workflow.getHandle(session).signal(compactSignal, request);
    return { by: "open-run" };
  } catch (error) {
    const failure = toHoldfastError(error, link, session);
    if (failure.code !== "session-unknown" || !(await sessionExists(link, session))) throw failure;
  }
  const { record } = await getSessionRecord(link, session);
  const kind = { type: "compaction" as const };
  const { runId } = await continueByHash(link, session, { kind, ...request }, record.definitionHash);
  return { by: "own-loop", runId };
}
