// Kills the worker, and the command itself, at every step of a review and of a commit: npm run git-crash -- [--quick] [--json]
import "../test/support/run-typescript.mjs";
import { parseArgs } from "node:util";

const USAGE = `Usage: npm run git-crash -- [--quick] [--json]

Plays a review with four sub-agents and a \`git commit --write\`, first undisturbed, then with a SIGKILL of the worker at each
kill point that they pass (some at the first pass, some in the middle, some near the end), and of the command itself around
each of its git processes and at each request to the vendor. The artifact and the object ids must be the same, and no stored
answer may be asked for again.

  --quick  a few kills of each kind
  --json   the last line of standard output is one JSON object

Exit code: 0 nothing was lost or paid twice, 1 something was, or most of the planned kills did not come, 2 bad arguments.

Example:
  npm run --silent git-crash -- --quick --json | tail -n 1
`;

const QUICK_KILLS = 4;
const BAD_INPUT = 2;

process.exit(await main());

async function main() {
  let values;
  try {
    const flag = { type: "boolean", default: false };
    ({ values } = parseArgs({ options: { quick: flag, json: flag, help: flag } }));
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return BAD_INPUT;
  }
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { proveCrashes } = await import("../test/apps/git/crash/crash-proof.ts");
  const { startTestServer } = await import("../dist/testing/index.js");
  const from = performance.now();
  const server = await startTestServer();
  try {
    const figures = await proveCrashes({
      address: server.address,
      namespace: server.namespace,
      ...(values.quick ? { maxKills: QUICK_KILLS } : {}),
      report: (line) => process.stderr.write(`${line}\n`),
    });
    const seconds = Math.round((performance.now() - from) / 1000);
    const result = { ...figures, seconds };
    const rows = Object.entries(result).map(([name, value]) => `${name.padEnd(20)}${value}`);
    process.stdout.write(`${values.json ? JSON.stringify(result) : rows.join("\n")}\n`);
    const { reviewKills, commitKills, commandKills, missed } = figures;
    const { differentArtifacts, differentObjects, repaid, problems } = figures;
    const isShort = missed >= reviewKills + commitKills + commandKills;
    return isShort || differentArtifacts + differentObjects + repaid + problems > 0 ? 1 : 0;
  } finally {
    await server.stop();
  }
}
