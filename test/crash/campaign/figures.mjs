/** What a campaign came to, over all of its waves. */
export function computeFigures(waves) {
  const violations = waves.flatMap((wave) => wave.violations);
  const recoveries = waves.flatMap((wave) => wave.recoveries).sort((a, b) => a - b);
  const count = (kind) => violations.filter((one) => one.kind === kind).length;
  return {
    kills: addValues(waves.flatMap((wave) => wave.kills.map(({ hit }) => hit))),
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

function addValues(values) {
  return values.reduce((all, one) => all + one, 0);
}

function computeQuantile(sorted, share) {
  return sorted.length === 0
    ? null
    : sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
