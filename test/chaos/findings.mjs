// What a judge finds. Each finding is counted under one word; the words are explained in docs/chaos.md.

/** Every other finding, of the count `broken`, fails its scenario without being one of these numbers. */
export const COUNTS = ["lost", "doubled", "unsafeTwice", "stuck", "leaked"];

/**
 * @param count - One of `COUNTS`, or `broken` for a promise of another kind.
 * @param where - The session, file or process that shows it.
 */
export function createFinding(count, what, where) {
  if (count !== "broken" && !COUNTS.includes(count)) throw new Error(`"${count}" is not a count of findings`);
  return { count, what, ...(where === undefined ? {} : { where }) };
}

/** The numbers of all reports: the last line of `npm run chaos -- --json`. */
export function sumReports(reports, { isCi = false } = {}) {
  const findings = reports.flatMap((report) => report.findings);
  const hasFailed = (report) => report.findings.length > 0 || (isCi && report.notPlayed !== undefined);
  return {
    scenarios: reports.filter(({ notPlayed }) => notPlayed === undefined).length,
    failed: reports.filter(hasFailed).length,
    ...Object.fromEntries(
      COUNTS.map((count) => [count, findings.filter((one) => one.count === count).length]),
    ),
  };
}
