// npm run fuzz -- [--inputs N] [--seed S]: sends malformed streams to every adapter.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const USAGE = `Usage: npm run fuzz -- [--inputs N] [--seed S]

Feeds N modified streams to the adapters, equally many to each. Every stream must immediately end in a message or in a
classified error, and leave nothing in memory. Failures are printed with their number and seed, which reproduce them.

  --inputs N  the number of streams (default: 1000000, which takes some minutes)
  --seed S    a whole number (default: a different one each day)

Exit code: 0 no failures, 1 failures, 2 bad arguments.

Example:
  npm run fuzz -- --inputs 100000 --seed 7
`;

const BAD_INPUT = 2;
const DAY_MS = 86_400_000;

process.exitCode = main();

function main() {
  let values;
  try {
    const options = { inputs: { type: "string" }, seed: { type: "string" }, help: { type: "boolean" } };
    ({ values } = parseArgs({ options }));
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return BAD_INPUT;
  }
  const { inputs = "1000000", seed = `${Math.floor(Date.now() / DAY_MS)}`, help } = values;
  if (help || !/^[1-9]\d*$/.test(inputs) || !/^\d+$/.test(seed)) {
    (help ? process.stdout : process.stderr).write(USAGE);
    return help ? 0 : BAD_INPUT;
  }
  process.stdout.write(`${inputs} inputs, seed ${seed}\n`);
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "test/providers/fuzz.test.ts"],
    {
      stdio: "inherit",
      env: { ...process.env, HOLDFAST_FUZZ_INPUTS: inputs, HOLDFAST_FUZZ_SEED: seed },
    },
  );
  return status === 0 ? 0 : 1;
}
