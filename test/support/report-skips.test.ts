import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { thoroughTest } from "./test-depth.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Runs the planted tests whose file has this name. */
function run(name: string, ...flags: string[]) {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const config = ["--config", "test/fixtures/skips/vitest.config.ts"];
  const { CI: _ci, VITEST: _vitest, VITEST_MODE: _mode, ...env } = process.env;
  return spawnSync(process.execPath, [vitest, "run", name, ...config, ...flags], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...env, NO_COLOR: "1" },
  });
}

test("skipped tests are counted by their reasons, beside any other reporter", () => {
  const { status, stdout, stderr } = run("/explained", "--reporter=json");
  expect(stderr).toContain(
    "\n7 tests were skipped:\n      4  no disk\n      1  no network\n      1  no server\n      1  no room\n",
  );
  expect(JSON.parse(stdout)).toMatchObject({ numPassedTests: 2, numPendingTests: 6, success: true });
  expect(status).toBe(0);
});

thoroughTest("a test that is skipped without a reason fails the run, and is named", () => {
  const { status, stderr } = run("/unexplained");
  expect(stderr).toContain("\n1 test was skipped without a reason, so this run fails.");
  expect(stderr).toContain(
    "  test/fixtures/skips/unexplained.planted.ts: a suite > with a test that is skipped\n",
  );
  expect(status).toBe(1);
});

thoroughTest("tests that the command line does not select have that reason", () => {
  const { status, stderr } = run("/unexplained", "-t", "^runs$");
  expect(stderr).toContain(
    "\n1 test was skipped:\n      1  not selected by the name or line on the command line\n",
  );
  expect(status).toBe(0);
});

test("no test of this repository is skipped, or the only one, by vitest's own functions", () => {
  const own =
    /(?<!["'`\w.])(?:test|it|describe|suite)(?:\.\w+)*\.(?:skip|skipIf|runIf|todo|only)(?=\s*[(.;,)])/;
  expect(["  describe", "concurrent", "skipIf(isSlow)('x', f)"].join(".")).toMatch(own);
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => own.test(readFileSync(join(ROOT, "test", file), "utf8").replaceAll(/\/\/.*/g, "")));
  expect(files.sort()).toEqual([
    // It is skipped on purpose.
    join("fixtures", "skips", "unexplained.planted.ts"),
    // It defines how tests are skipped.
    join("support", "skipping.ts"),
  ]);
});
