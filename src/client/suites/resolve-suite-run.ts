import type { SuiteRunRecord, SuiteStore } from "../../store/transcript/suites.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** What the id of every run begins with; a reference may leave it out. */
const PREFIX = "suite-";

/** The reference to the run that was created last. */
const LAST = "last";

const PAGE_RUNS = 100;

/** More runs than an error lists, so that it can say that there are more. */
const MAX_MATCHES = 6;

/**
 * Returns the run that a reference means: its id, the beginning of its id if no other id begins with it, or `last`. An id may
 * be given without `suite-`.
 *
 * @throws HoldfastError With the code `session-unknown` for no match, and `input-invalid` for several.
 */
export async function resolveSuiteRun(
  suites: Pick<SuiteStore, "readRun" | "listRuns"> | undefined,
  reference: string,
): Promise<SuiteRunRecord> {
  if (suites === undefined) throw createUnknownRunError(reference);
  if (reference === LAST) {
    const [newest] = await suites.listRuns({ limit: 1 });
    if (newest !== undefined) return newest;
    throw createUnknownRunError(reference);
  }
  const exact = (await suites.readRun(reference)) ?? (await suites.readRun(`${PREFIX}${reference}`));
  if (exact !== undefined) return exact;
  const matches: SuiteRunRecord[] = [];
  for await (const record of listAllRuns(suites)) {
    const isMatch = record.id.startsWith(reference) || record.id.startsWith(`${PREFIX}${reference}`);
    if (reference !== "" && isMatch) matches.push(record);
    if (matches.length === MAX_MATCHES) break;
  }
  const [match, ...others] = matches;
  if (match === undefined) throw createUnknownRunError(reference);
  if (others.length > 0) throw createAmbiguousError(reference, matches);
  return match;
}

async function* listAllRuns(suites: Pick<SuiteStore, "listRuns">): AsyncGenerator<SuiteRunRecord> {
  for (let after: SuiteRunRecord | undefined; ; ) {
    const page = await suites.listRuns({ limit: PAGE_RUNS, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1);
    if (after === undefined || page.length < PAGE_RUNS) return;
  }
}

/** Creates the error about a run that the store does not have. */
export function createUnknownRunError(reference: string): HoldfastError {
  const message =
    reference === LAST
      ? "This store has no suite run yet. Start one: `holdfast eval run SUITE`."
      : `There is no suite run ${reference} in this store. \`holdfast eval list\` shows those that there are.`;
  return new HoldfastError("session-unknown", message, { session: reference });
}

function createAmbiguousError(reference: string, matches: readonly SuiteRunRecord[]): HoldfastError {
  const listed = matches.slice(0, MAX_MATCHES - 1).map(({ id }) => id);
  const more = matches.length === MAX_MATCHES ? ", and more" : "";
  return new HoldfastError(
    "input-invalid",
    `"${reference}" is the beginning of the ids of several runs: ${listed.join(", ")}${more}. Give more characters of the id.`,
    { problems: [`"${reference}" is not unique`] },
  );
}
