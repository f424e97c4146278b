// npm run fuzz -- [--inputs N] [--seed S]: streams that no vendor would send, to every adapter.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const USAGE = `Usage: npm run fuzz -- [--inputs N] [--seed S]

Feeds N changed streams to the adapters, as many to each. Every one must end in a message or in a classified error, at
once, and leave nothing in memory. What fails is printed with its number and its seed, and can be had again with them.

  --inputs N  how many; 1000000 unless said (some minutes)
  --seed S    a whole number; another for each day unless said

Exit code: 0 nothing was found, 1 something was, 2 wrong arguments.

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
