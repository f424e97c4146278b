import { HoldfastError } from "../../client/holdfast-error.ts";
import type { Holdfast } from "../../client/index.ts";
import { withHoldfast } from "./connection.ts";
import type { Context } from "./context.ts";

export const SESSION_ARGUMENT = "the session's id, its beginning, or `last`";
export const JOB_ARGUMENT = "the job's id, its beginning, or `last`";

/** `last`, or what can be the beginning of a generated id. Any other text is the name of a session to create. */
const REFERENCE = /^(?:last|[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]{0,27})$/;

/** Runs the work with a connection and the id of the session that the user means. */
export function withSession<T>(
  context: Context,
  reference: string,
  work: (holdfast: Holdfast, session: string) => Promise<T>,
): Promise<T> {
  return withHoldfast(context, async (holdfast) => work(holdfast, await holdfast.sessions.find(reference)));
}

/** Runs the work with a connection and the id of the job that the user means. */
export function withJob<T>(
  context: Context,
  reference: string,
  work: (holdfast: Holdfast, job: string) => Promise<T>,
): Promise<T> {
  return withHoldfast(context, async (holdfast) => work(holdfast, await holdfast.jobs.find(reference)));
}

/** Returns the id of the session that the user means, for a command that creates a session that does not exist. */
export async function findOrNameSession(
  holdfast: Holdfast,
  reference: string | undefined,
): Promise<string | undefined> {
  if (reference === undefined || !REFERENCE.test(reference)) return reference;
  try {
    return await holdfast.sessions.find(reference);
  } catch (error) {
    if (reference === "last" || !(error instanceof HoldfastError) || error.code !== "session-unknown")
      throw error;
    return reference;
  }
}
