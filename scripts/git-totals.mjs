/**
 * Prints the totals of a proof with its time and its peak of memory: as one line of JSON, or as a table.
 *
 * @returns The exit code: 1 for a problem, or for more memory than allowed.
 */
export function reportTotals(total, { fromMs, maxPeakMb, isJson }) {
  const seconds = Number(((performance.now() - fromMs) / 1000).toFixed(1));
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const result = { ...total, seconds, peakMb };
  const rows = Object.entries(result).map(([name, value]) => `${name.padEnd(14)}${value}`);
  console.log(isJson ? JSON.stringify(result) : rows.join("\n"));
  if (peakMb > maxPeakMb) console.error(`The peak of memory is above ${maxPeakMb} MB.`);
  return total.problems > 0 || peakMb > maxPeakMb ? 1 : 0;
}
