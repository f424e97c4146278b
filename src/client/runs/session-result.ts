import type { ZodType } from "zod";
import type { ClientLink } from "../connection/client-link.ts";
import { awaitResult } from "./await-result.ts";
import { addTotals } from "./loop-totals.ts";
import { addOutput, type ResultOptions, type SessionResult } from "./read-output.ts";
import { addReportedText } from "./read-past-result.ts";

/** Waits until a run of a session has ended, and completes its result: text, totals and structured output. */
export async function readSessionResult<Output>(
  link: ClientLink,
  session: string,
  options: ResultOptions & { readonly runId: string | undefined },
  output: ZodType<Output> | undefined,
): Promise<SessionResult<Output>> {
  const result = await awaitResult(link, session, options);
  const withText = await addReportedText(link, result, options.signal);
  const complete = await addTotals(link, withText, options.signal);
  return addOutput(link, complete, output, options.signal);
}
