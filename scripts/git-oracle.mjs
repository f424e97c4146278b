// npm run git-oracle -- [ARGUMENTS FOR VITEST]: compares the git tools with git on histories of 20,000 and 40,000 commits.
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const { status } = spawnSync(
  process.execPath,
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--mode",
    "all",
    "test/apps/git/oracle.test.ts",
    ...process.argv.slice(2),
  ],
  {
    cwd: dirname(dirname(fileURLToPath(import.meta.url))),
    stdio: "inherit",
    env: { ...process.env, HOLDFAST_LARGE_HISTORIES: "1" },
  },
);
process.exit(status ?? 1);
