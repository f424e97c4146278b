import type { Holdfast, SuiteRun } from "../../../client/index.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";

export const RUN_ARGUMENT = "the run's id, its beginning (with or without `suite-`), or `last`";

/** Runs the work with a connection and the run of a suite that the user means. */
export function withSuiteRun<T>(
  context: Context,
  reference: string,
  work: (run: SuiteRun, holdfast: Holdfast) => Promise<T>,
): Promise<T> {
  return withHoldfast(context, async (holdfast) =>
    work(holdfast.evaluations.get(await holdfast.evaluations.find(reference)), holdfast),
  );
}
