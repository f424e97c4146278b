import type { SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { DefinitionError } from "../step/failure.ts";

/** Reads the record of a suite's run, or throws a reason that says what to do. */
export async function readSuiteRun(
  run: string,
  { suites }: Pick<Transcript, "suites">,
): Promise<SuiteRunRecord> {
  const record = await suites.readRun(run);
  if (record !== undefined) return record;
  throw new DefinitionError(
    `The store of this worker has no suite run ${run}: start it with \`holdfast eval run\`, with the same store as the worker`,
  );
}
