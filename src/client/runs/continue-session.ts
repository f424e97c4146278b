import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import { type Limits, LoopLimits } from "../../schema/limits.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { raiseLimitsUpdate } from "../../workflows/messages.ts";
import { createNoLoopWhileIdleError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { getBranchContinuation } from "../sessions/continue-on-branch.ts";
import { checkOption } from "./check-option.ts";
import { findNewestLoop } from "./find-newest-loop.ts";
import { getSessionRecord } from "./get-session-record.ts";
import { sendRunUpdate } from "./send-run-update.ts";
import { continueByHash, type StartResult } from "./start-run.ts";

/** Where an idle session continues, and within which limits. */
export type ContinueOptions = {
  /** Continues at the end of this branch, which becomes the session's head. */
  readonly branch?: string;
  /** Replaces the definition's limits for the new loop. `null` disables a limit. */
  readonly limits?: Partial<Limits>;
};

/** Continues an idle session as it is, after a limit, a stop or a failure. */
export async function continueSession(
  link: ClientLink,
  session: string,
  { branch, limits }: ContinueOptions = {},
): Promise<StartResult> {
  const { record } = await getSessionRecord(link, session);
  const target = branch === undefined ? undefined : await getBranchContinuation(link, session, branch);
  const continuation: Continuation = {
    ...(target ?? { kind: { type: "default" } }),
    ...omitUndefined({ limits }),
  };
  return continueByHash(link, session, continuation, record.definitionHash);
}

/** Which prompts are answered again, and within which limits. */
export type RerunOptions = Pick<ContinueOptions, "limits"> & {
  /** The loop whose prompts are answered again; the newest by default. */
  readonly loop?: string;
};

/** Answers the prompts of a loop again, on a new branch; the old answers remain. */
export async function rerunLoop(
  link: ClientLink,
  session: string,
  { loop, limits }: RerunOptions = {},
): Promise<StartResult> {
  const { transcript, record } = await getSessionRecord(link, session);
  const loops = await transcript.readLoops(session);
  const chosen = loop === undefined ? findNewestLoop(loops) : loops.find(({ loopId }) => loopId === loop);
  if (chosen === undefined) {
    const names = loops.map(({ loopId }) => loopId).join(", ");
    throw new HoldfastError(
      "input-invalid",
      `Session ${session} has no loop ${loop ?? ""}; it has ${names === "" ? "none" : names}.`,
      { session },
    );
  }
  const continuation: Continuation = {
    kind: { type: "rerun", tag: new Date().toISOString() },
    at: { branch: chosen.branch, position: await findFirstAnswerPosition(transcript, session, chosen) },
    ...omitUndefined({ limits }),
  };
  return continueByHash(link, session, continuation, record.definitionHash);
}

/** Raises the limits of the running loop; fails if none runs. Returns the limits that apply from then on. */
export async function raiseLimits(
  link: ClientLink,
  session: string,
  limits: Partial<Limits>,
): Promise<Limits> {
  checkOption(LoopLimits, limits, "limits");
  return await sendRunUpdate(link, session, raiseLimitsUpdate, limits, createNoLoopWhileIdleError);
}

/** Returns the first position of a loop that is not a user's message: the position of its first answer. */
async function findFirstAnswerPosition(
  transcript: Transcript,
  session: string,
  loop: LoopRecord,
): Promise<number> {
  const page = 64;
  for (let from = loop.from; ; from += page) {
    const entries = await transcript.readEntries(session, loop.branch, from, from + page);
    const answer = entries.find(({ message }) => message.role !== "user");
    if (answer !== undefined) return answer.position;
    if (entries.length < page) return from + entries.length;
  }
}
