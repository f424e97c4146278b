// Random tables of data, and what the package's statistics say about them. Used by statistics-oracle.mjs and by the test that
// reads its recorded answers. `statistics` is always the module src/evaluation/statistics, built or not.

const RESAMPLES = 200;
const SIGN_CHANGES = 200;
/** The differences up to this number are tested exactly, which takes Python long for more. */
const MAX_EXACT = 10;
const CONFIDENCES = [0.8, 0.9, 0.95, 0.99];

/** How values of a table look. Eighths are exact in binary: their sums tie on both sides or on none. */
const KINDS = {
  normal: (random) => drawNormal(random),
  shifted: (random) => 1e6 + drawNormal(random),
  lognormal: (random) => Math.exp(drawNormal(random)),
  uniform: (random) => random.next(),
  rate: (random) => (random.next() < 0.8 ? 1 : 0),
  eighths: (random) => (random.nextInt(17) - 8) / 8,
};

/** Draws a number of the standard normal distribution, by the method of G. E. P. Box and M. E. Muller, 1958. */
export function drawNormal(random) {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** Creates a table of random data: the same for the same seed. */
export function createTable(statistics, seed) {
  const random = statistics.createRandom(seed);
  const drawBetween = (least, most) => least + random.nextInt(most - least + 1);
  const drawValues = (kind, length) => {
    for (;;) {
      const values = Array.from({ length }, () => KINDS[kind](random));
      if (values.some((value) => value !== values[0])) return values;
    }
  };
  const kind = Object.keys(KINDS)[random.nextInt(Object.keys(KINDS).length)];
  const values = drawValues(kind, drawBetween(3, 40));
  const groups = drawBetween(2, values.length);
  const attempts = drawBetween(1, 500);
  const tasks = drawBetween(1, 300);
  const onlyFirst = drawBetween(0, tasks);
  const isExact = random.nextInt(2) === 0;
  return {
    seed,
    kind,
    confidence: CONFIDENCES[random.nextInt(CONFIDENCES.length)],
    values,
    // The first two clusters have a value each; the others may be empty.
    clusters: values.map((_, index) => (index < 2 ? index : random.nextInt(groups))),
    resampleSeed: random.nextInt(2 ** 21),
    differences: drawValues(
      ["normal", "eighths", "lognormal"][random.nextInt(3)],
      isExact ? drawBetween(2, MAX_EXACT) : drawBetween(12, 40),
    ),
    // Undefined: all sign changes are tried.
    ...(isExact ? {} : { signSeed: random.nextInt(2 ** 21) }),
    attempts,
    successes: drawBetween(0, attempts),
    k: drawBetween(1, attempts),
    tasks,
    onlyFirst,
    onlySecond: drawBetween(0, tasks - onlyFirst),
    pValues: Array.from({ length: drawBetween(1, 12) }, () => random.next() ** 3),
    probability: 0.0001 + 0.9998 * random.next(),
    degreesOfFreedom: drawBetween(1, random.nextInt(2) === 0 ? 30 : 20_000),
  };
}

/** Adds the resamples and the sign changes that a table only names by their seeds. */
export function expandTable(statistics, table) {
  const resamples = statistics.drawResamples(
    statistics.createRandom(table.resampleSeed),
    table.values.length,
    RESAMPLES,
  );
  if (table.signSeed === undefined) return { ...table, resamples };
  const random = statistics.createRandom(table.signSeed);
  const signs = Array.from({ length: SIGN_CHANGES }, () =>
    table.differences.map(() => 1 - 2 * random.nextInt(2)),
  );
  return { ...table, resamples, signs };
}

/**
 * Computes every number about an expanded table, by name.
 *
 * @param distributions - The functions of normal-distribution.ts and student-distribution.ts.
 */
export function computeTable(statistics, distributions, table) {
  const { values, confidence, resamples, differences, signs, attempts, successes, k, tasks } = table;
  const clustered = statistics.computeClusteredInterval(values, table.clusters, confidence);
  const paired = statistics.comparePaired(differences, {
    confidence,
    ...(signs === undefined ? {} : { permutations: signs }),
  });
  const mcnemar = statistics.testMcnemar(table.onlyFirst, table.onlySecond, tasks, confidence);
  const medianBca = statistics.computeBcaInterval(values, {
    resamples,
    confidence,
    statistic: statistics.computeMedian,
  });
  const normalQuantile = distributions.computeNormalQuantile(table.probability);
  return {
    normalQuantile,
    normalProbability: distributions.computeNormalProbability(normalQuantile),
    studentQuantile: distributions.computeStudentQuantile(table.probability, table.degreesOfFreedom),
    mean: statistics.computeMean(values),
    median: statistics.computeMedian(values),
    variance: statistics.computeVariance(values),
    ...nameEnds("t", statistics.computeTInterval(values, confidence)),
    clusteredMean: clustered.mean,
    clusteredError: clustered.standardError,
    ...nameEnds("clustered", clustered),
    ...nameEnds("bca", statistics.computeBcaInterval(values, { resamples, confidence })),
    // The median of a rate has a degenerate distribution, for which SciPy gives no interval.
    ...(isContinuous(table) ? nameEnds("medianBca", medianBca) : {}),
    difference: paired.difference,
    pairedPValue: paired.pValue,
    effectSize: paired.effectSize,
    ...nameEnds("paired", paired.interval),
    passAtK: statistics.computePassAtK(attempts, successes, k),
    passHatK: statistics.computePassHatK(attempts, successes, k),
    ...nameEnds("wilson", statistics.computeWilsonInterval(successes, attempts, confidence)),
    mcnemarDifference: mcnemar.difference,
    mcnemarPValue: mcnemar.pValue,
    ...nameEnds("mcnemar", mcnemar.interval),
    ...nameEach("holm", statistics.adjustHolm(table.pValues)),
    ...nameEach("benjaminiHochberg", statistics.adjustBenjaminiHochberg(table.pValues)),
  };
}

function isContinuous({ kind }) {
  return kind !== "rate" && kind !== "eighths";
}

function nameEnds(name, { low, high }) {
  return { [`${name}Low`]: low, [`${name}High`]: high };
}

function nameEach(name, numbers) {
  return Object.fromEntries(numbers.map((number, index) => [`${name}${index}`, number]));
}

/** Returns the distance of two numbers, relative to the expected one if that is larger than 1. */
export function measureDistance(actual, expected) {
  if (!(Number.isFinite(actual) && Number.isFinite(expected))) return Number.POSITIVE_INFINITY;
  return Math.abs(actual - expected) / Math.max(1, Math.abs(expected));
}
