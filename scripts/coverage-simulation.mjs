// Simulates how often intervals contain the true value. Used by coverage.mjs and by test/evaluation/statistics/coverage.test.ts.
// `statistics` is always the module src/evaluation/statistics, built or not.
import { drawNormal } from "./statistics-tables.mjs";

/** The distributions that values are drawn from, with their means. */
export const DISTRIBUTIONS = {
  normal: { mean: 0, draw: drawNormal },
  uniform: { mean: 0.5, draw: (random) => random.next() },
  lognormal: { mean: Math.exp(0.5), draw: (random) => Math.exp(drawNormal(random)) },
  "bernoulli 0.5": { mean: 0.5, draw: (random) => (random.next() < 0.5 ? 1 : 0) },
  "bernoulli 0.9": { mean: 0.9, draw: (random) => (random.next() < 0.9 ? 1 : 0) },
};

/** How many values a cluster has, such as the attempts at one task. The last cluster may have fewer. */
const CLUSTER_SIZE = 5;

/** The correlation of two values of the same cluster. */
const CLUSTER_CORRELATION = 0.5;

/** For each interval a function that draws a suite and returns the true value and the interval, with 95 % confidence. */
const INTERVALS = {
  /** Rates of 2 % to 98 %: each suite has its own, so that the coverage is the mean over them. */
  wilson: (statistics, random, n) => {
    const rate = 0.02 + 0.96 * random.next();
    let successes = 0;
    for (let i = 0; i < n; i++) successes += random.next() < rate ? 1 : 0;
    return [rate, statistics.computeWilsonInterval(successes, n)];
  },
  t: (statistics, random, n, distribution) => {
    const values = drawValues(random, n, distribution);
    return [DISTRIBUTIONS[distribution].mean, statistics.computeTInterval(values)];
  },
  bca: (statistics, random, n, distribution, resamples) => {
    const values = drawValues(random, n, distribution);
    const options = { resamples: { random, count: resamples } };
    return [DISTRIBUTIONS[distribution].mean, statistics.computeBcaInterval(values, options)];
  },
  clustered: (statistics, random, n, distribution) => {
    const { values, clusters } = drawClusters(random, n, distribution);
    return [DISTRIBUTIONS[distribution].mean, statistics.computeClusteredInterval(values, clusters)];
  },
};

export function drawValues(random, n, distribution) {
  const { draw } = DISTRIBUTIONS[distribution];
  return Array.from({ length: n }, () => draw(random));
}

/** Draws values of which some are the value of their cluster and the others their own: each has the same distribution. */
function drawClusters(random, n, distribution) {
  const { draw } = DISTRIBUTIONS[distribution];
  const ofClusters = Array.from({ length: Math.ceil(n / CLUSTER_SIZE) }, () => draw(random));
  const clusters = Array.from({ length: n }, (_, index) => Math.floor(index / CLUSTER_SIZE));
  // Two values correlate if both are the cluster's.
  const share = Math.sqrt(CLUSTER_CORRELATION);
  const values = clusters.map((cluster) => (random.next() < share ? ofClusters[cluster] : draw(random)));
  return { values, clusters };
}

/**
 * Returns the share of simulated suites whose interval contains the true value.
 *
 * @param interval - A key of INTERVALS.
 * @param n - How many values each suite has.
 * @param resamples - Of a bootstrap interval.
 */
export function simulateCoverage(
  statistics,
  { interval, distribution = "normal", n, suites, seed, resamples = 1000 },
) {
  const random = statistics.createRandom(seed);
  let covered = 0;
  for (let suite = 0; suite < suites; suite++) {
    const [truth, { low, high }] = INTERVALS[interval](statistics, random, n, distribution, resamples);
    if (low <= truth && truth <= high) covered++;
  }
  return covered / suites;
}
