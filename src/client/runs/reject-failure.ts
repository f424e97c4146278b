import type { Outcome } from "../../schema/record.ts";
import { HoldfastError } from "../holdfast-error.ts";

/**
 * Returns the result of a run, unless its outcome is `failed`.
 *
 * @param subject - What has failed, for the message.
 * @param next - What to do after the cause is removed, and the command for it.
 * @throws {HoldfastError} With the code `run-failed` and the outcome in its facts.
 */
export function rejectFailure<Result extends { readonly outcome: Outcome }>(
  result: Result,
  subject: { readonly name: string; readonly session: string },
  next: { readonly advice: string; readonly command?: string },
): Result {
  const { outcome } = result;
  if (outcome.type !== "failed") return result;
  const { fault, message } = outcome;
  const { command } = next;
  throw new HoldfastError(
    "run-failed",
    `${subject.name} failed (${fault}): ${message.replace(/\.$/, "")}. ${next.advice}`,
    { session: subject.session, outcome, ...(command === undefined ? {} : { command }) },
  );
}
