// Simulates how often the intervals of evaluations contain the true value: npm run interval-coverage -- [--quick] [--scipy]
import { parseArgs } from "node:util";
import { DISTRIBUTIONS, drawValues, simulateCoverage } from "./coverage-simulation.mjs";
import { startPython } from "./statistics-python.mjs";

const SIZES = [20, 50, 164];
const SEED = 20_261_128;
/** What Wilson's interval, and the t interval of normal values, must reach. */
const LEAST = 0.935;
const MOST = 0.965;
/** The bootstrap takes a thousand times as long as the other intervals: --quick simulates fewer suites of it. */
const SUITES = {
  full: { usual: 10_000, bca: 10_000, scipy: 2_000 },
  quick: { usual: 2_000, bca: 200, scipy: 200 },
};
const RESAMPLES = 1000;
/** SciPy holds all resamples of this many suites in memory. */
const SCIPY_BATCH = 50;
/** The difference that chance explains, in standard errors. Among 15 comparisons, one in 1000 runs has a larger one. */
const MAX_ERRORS = 4;

const USAGE = `Usage: npm run interval-coverage -- [--quick] [--scipy] [--seed N]

Draws suites of ${SIZES.join(", ")} values and counts how often the 95 % interval contains the true mean. Wilson's interval (rates from 2 % to
98 %) and the t interval of normal values must do so in ${100 * LEAST} % to ${100 * MOST} % of the suites. For the other intervals and
distributions the figures are only printed; docs/numbers.md has them.

  --quick    ${SUITES.quick.usual} suites instead of ${SUITES.full.usual}, ${SUITES.quick.bca} of the bootstrap
  --scipy    also compares the bootstrap's coverage with that of SciPy on the same suites; installs SciPy at the first run,
             like npm run statistics-oracle
  --seed N   the seed, ${SEED} by default

The last line of standard output is a JSON object: {cases, failed, comparisons}.

Exit code: 0 all figures are in their bounds, 1 some are not, 2 bad arguments, or Python or its packages are not available.

Examples:
  npm run --silent interval-coverage -- --quick
  npm run --silent interval-coverage -- --scipy
`;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    scipy: { type: "boolean", default: false },
    seed: { type: "string", default: String(SEED) },
    help: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
if (values.help || !Number.isSafeInteger(seed)) {
  (values.help ? process.stdout : process.stderr).write(USAGE);
  process.exit(values.help ? 0 : 2);
}
const suites = values.quick ? SUITES.quick : SUITES.full;
const statistics = await import("../dist/evaluation/statistics/index.js");
const total = { cases: 0, failed: 0, comparisons: 0 };

for (const n of SIZES) {
  report({ interval: "wilson", n, suites: suites.usual }, true);
  for (const distribution of Object.keys(DISTRIBUTIONS)) {
    report({ interval: "t", distribution, n, suites: suites.usual }, distribution === "normal");
    report({ interval: "clustered", distribution, n, suites: suites.usual }, false);
    report({ interval: "bca", distribution, n, suites: suites.bca, resamples: RESAMPLES }, false);
  }
}
if (values.scipy) await compareWithScipy();
console.log(JSON.stringify(total));
process.exitCode = total.failed === 0 ? 0 : 1;

function report(settings, isBounded) {
  const coverage = simulateCoverage(statistics, { ...settings, seed });
  const isGood = !isBounded || (coverage >= LEAST && coverage <= MOST);
  total.cases++;
  if (!isGood) total.failed++;
  const { interval, n, distribution = "rates" } = settings;
  print([interval, distribution, n, toPercent(coverage), isGood ? "" : "out of bounds"]);
}

async function compareWithScipy() {
  const python = startPython("coverage.py");
  for (const n of SIZES) {
    for (const [distribution, { mean }] of Object.entries(DISTRIBUTIONS)) {
      const random = statistics.createRandom(seed);
      const counts = { ours: 0, theirs: 0, different: 0 };
      for (let first = 0; first < suites.scipy; first += SCIPY_BATCH) {
        const batch = Array.from({ length: SCIPY_BATCH }, () => drawValues(random, n, distribution));
        const theirs = await python.ask({ suites: batch, mean, resamples: RESAMPLES, seed: seed + first });
        batch.forEach((suite, index) => {
          const options = { resamples: { random, count: RESAMPLES } };
          const { low, high } = statistics.computeBcaInterval(suite, options);
          const isCovered = low <= mean && mean <= high;
          if (isCovered) counts.ours++;
          if (theirs[index]) counts.theirs++;
          if (isCovered !== theirs[index]) counts.different++;
        });
      }
      total.comparisons++;
      // Under equal chances each suite that differs is a coin's throw.
      const isGood = Math.abs(counts.ours - counts.theirs) <= MAX_ERRORS * Math.sqrt(counts.different);
      if (!isGood) total.failed++;
      const [ours, theirs] = [counts.ours, counts.theirs].map((count) => toPercent(count / suites.scipy));
      print([
        "bca",
        distribution,
        n,
        ours,
        `SciPy ${theirs}${isGood ? "" : ", which differs by more than chance"}`,
      ]);
    }
  }
  python.end();
}

function toPercent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

function print([interval, distribution, n, coverage, note]) {
  console.log(
    `${interval.padEnd(10)} ${distribution.padEnd(14)} n ${String(n).padStart(3)}  ${coverage} ${note}`.trimEnd(),
  );
}
