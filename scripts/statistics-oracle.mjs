// Compares the statistics of evaluations with SciPy and statsmodels: npm run statistics-oracle -- [--tables N] [--record]
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PACKAGES, startPython } from "./statistics-python.mjs";
import { computeTable, createTable, expandTable, measureDistance } from "./statistics-tables.mjs";

/** The largest distance that counts as equal: relative above 1, absolute below. */
const TOLERANCE = 1e-9;
const RECORDED_TABLES = 20;
const RECORD = join(import.meta.dirname, "..", "test", "evaluation", "statistics", "oracle.json");

const USAGE = `Usage: npm run statistics-oracle -- [--tables N] [--seed N] [--record] [--python FILE]

Computes every statistic of src/evaluation/statistics about random tables, and again with SciPy and statsmodels, which get the
same resamples and the same sign changes. The numbers must be equal to ${TOLERANCE}. The packages are installed from PyPI into
~/.cache/holdfast (or HOLDFAST_CACHE) at the first run; they need Python 3.11 or newer.

  --tables N     how many tables, 1000 by default
  --seed N       the seed of the first table, 1 by default; the others follow
  --record       also writes the first ${RECORDED_TABLES} tables with the numbers of SciPy and statsmodels to
                 test/evaluation/statistics/oracle.json
  --python FILE  the Python to install the packages with, python3 by default

The last line of standard output is a JSON object: {tables, comparisons, worst, failed}. Each number that differs has a line
before it.

Exit code: 0 all numbers are equal, 1 some are not, 2 bad arguments, or Python or its packages are not available.

Examples:
  npm run --silent statistics-oracle
  npm run --silent statistics-oracle -- --tables 50 --seed 7
  npm run --silent statistics-oracle -- --record
`;

const { values } = parseArgs({
  options: {
    tables: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    record: { type: "boolean", default: false },
    python: { type: "string", default: "python3" },
    help: { type: "boolean", default: false },
  },
});
const tables = Number(values.tables);
const firstSeed = Number(values.seed);
if (values.help || !(Number.isSafeInteger(tables) && tables > 0 && Number.isSafeInteger(firstSeed))) {
  (values.help ? process.stdout : process.stderr).write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const folder = "../dist/evaluation/statistics";
const statistics = await import(`${folder}/index.js`);
const distributions = {
  ...(await import(`${folder}/normal-distribution.js`)),
  ...(await import(`${folder}/student-distribution.js`)),
};
const total = { tables: 0, comparisons: 0, worst: 0, failed: 0 };
const recorded = [];
await compareAll();
if (values.record) record();
console.log(JSON.stringify(total));
process.exitCode = total.failed === 0 && total.tables === tables ? 0 : 1;

async function compareAll() {
  const python = startPython("statistics-oracle.py", values.python);
  for (let index = 0; index < tables; index++) {
    const table = createTable(statistics, firstSeed + index);
    const expanded = expandTable(statistics, table);
    const expected = await python.ask(expanded);
    if (recorded.length < RECORDED_TABLES) recorded.push({ ...table, expected });
    compare(table.seed, computeTable(statistics, distributions, expanded), expected);
  }
  python.end();
}

/** Writes the recorded tables, in the layout that `npm run lint` demands. */
function record() {
  writeFileSync(RECORD, JSON.stringify({ packages: PACKAGES, tables: recorded }));
  const biome = join(import.meta.dirname, "..", "node_modules", "@biomejs", "biome", "bin", "biome");
  const { status } = spawnSync(process.execPath, [biome, "format", "--write", RECORD], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) process.exit(2);
  process.stderr.write(`statistics-oracle: recorded ${recorded.length} tables in ${RECORD}\n`);
}

function compare(seed, actual, expected) {
  total.tables++;
  for (const name of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    const distance = measureDistance(actual[name], expected[name]);
    total.comparisons++;
    total.worst = Math.max(total.worst, distance);
    if (distance <= TOLERANCE) continue;
    total.failed++;
    console.log(`seed ${seed}: ${name} is ${actual[name]}, expected ${expected[name]}`);
  }
}
