// Runs the tests on every supported Node release line, with binaries from npm.
//
//   npm run test:nodes [-- ARGUMENTS FOR VITEST]
//
// HOLDFAST_NODES=22,24 runs only these.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchNode } from "./fetch-node.mjs";

const NODES = ["20.20.2", "22.23.3", "24.21.0"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = process.env.HOLDFAST_NODES?.split(",") ?? NODES.map(getMajor);
const report = mkdtempSync(join(tmpdir(), "holdfast-nodes-"));

const rows = NODES.filter((version) => wanted.includes(getMajor(version))).map(runOn);
rmSync(report, { recursive: true, force: true });

console.log("\nNode       passed  failed  seconds");
for (const { version, passed, failed, seconds, note } of rows) {
  const cells = [version.padEnd(10), String(passed).padStart(6), String(failed).padStart(7)];
  console.log(`${cells.join(" ")} ${seconds.toFixed(1).padStart(8)}${note === "" ? "" : `  ${note}`}`);
}
const isGood = rows.length > 0 && rows.every((row) => row.note === "" && row.failed === 0 && row.passed > 0);
process.exit(isGood ? 0 : 1);

function runOn(version) {
  const started = Date.now();
  const row = (facts) => ({
    version,
    passed: 0,
    failed: 0,
    note: "",
    ...facts,
    seconds: (Date.now() - started) / 1000,
  });
  const node = fetchNode(version);
  if (node === undefined) return row({ note: "no binary" });
  const versionOutput = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim();
  if (versionOutput !== `v${version}`) return row({ note: `its binary reports ${versionOutput}` });

  console.log(`\n=== Node ${version}`);
  const output = join(report, `${version}.json`);
  const { status } = spawnSync(
    node,
    [
      join(root, "node_modules", "vitest", "vitest.mjs"),
      "run",
      "--mode=all",
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${output}`],
      ...process.argv.slice(2),
    ],
    {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      env: { FC_RUNS: "2000", ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) },
    },
  );
  if (!existsSync(output)) return row({ note: `no report (exit code ${status})` });
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(output, "utf8"));
  const note = status !== 0 && numFailedTests === 0 ? `exit code ${status}` : "";
  return row({ passed: numPassedTests, failed: numFailedTests, note });
}

function getMajor(version) {
  return version.slice(0, version.indexOf("."));
}
