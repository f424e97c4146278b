/** What a campaign came to, over all of its waves. */
export function computeFigures(waves) {
  const violations = waves.flatMap((wave) => wave.violations);
  const recoveries = waves.flatMap((wave) => wave.recoveries).sort((a, b) => a - b);
  const count = (kind) => violations.filter((one) => one.kind === kind).length;
  return {
    kills: countKills(waves),
    violations: violations.length,
    repaidStored: count("repaid-stored"),
    unsafeTwice: count("unsafe-twice"),
    lost: count("lost"),
    duplicated: count("duplicated"),
    recoveryP50Ms: computeQuantile(recoveries, 0.5),
    recoveryP99Ms: computeQuantile(recoveries, 0.99),
  };
}

/** The rest of what the document says. */
export function computeDetails(waves) {
  const byPoint = {};
  const again = {};
  for (const { kills, again: causes } of waves) {
    for (const { point, hit } of kills) byPoint[point] = (byPoint[point] ?? 0) + hit;
    for (const [cause, times] of Object.entries(causes)) again[cause] = (again[cause] ?? 0) + times;
  }
  return {
    waves: waves.length,
    runs: addValues(waves.map(({ runs }) => runs)),
    deaths: addValues(waves.map(({ kills }) => kills.length)),
    minutes: addValues(waves.map(({ ms }) => ms)) / 60_000,
    byPoint,
    again,
  };
}

/** A kill counts once for each run that it hits. */
export function countKills(waves) {
  return addValues(waves.flatMap((wave) => wave.kills.map(({ hit }) => hit)));
}

/** The number of last waves that tell how fast the campaign is: about one round of all points. */
const RECENT_WAVES = 15;

/** How fast the campaign is, and the minutes until it has `enough` kills; both undefined before the first kill. */
export function computeProgress(waves, enough) {
  const recent = waves.slice(-RECENT_WAVES);
  const minutes = addValues(recent.map(({ ms }) => ms)) / 60_000;
  const killsPerMinute = minutes === 0 ? 0 : countKills(recent) / minutes;
  if (killsPerMinute === 0) return { killsPerMinute: undefined, minutesLeft: undefined };
  return { killsPerMinute, minutesLeft: Math.max(0, enough - countKills(waves)) / killsPerMinute };
}

function addValues(values) {
  return values.reduce((all, one) => all + one, 0);
}

function computeQuantile(sorted, share) {
  return sorted.length === 0
    ? null
    : sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
