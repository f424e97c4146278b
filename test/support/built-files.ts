import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

const SETUP = fileURLToPath(new URL("../../scripts/setup.mjs", import.meta.url));

/** Builds `dist` if a source has changed since the last build: all tests import from it in the mode `all`. */
export default function buildIfChanged(project: TestProject): void {
  if (project.vite.config.mode !== "all") return;
  const { status } = spawnSync(process.execPath, [SETUP, "build"], { stdio: "inherit" });
  if (status !== 0) throw new Error(`The build failed with the exit code ${status}. Its errors are above.`);
}
