import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

const SETUP = fileURLToPath(new URL("../../scripts/setup.mjs", import.meta.url));

/** The modes in which tests import the built files: `npm test` and `npm run test:all`. */
export const BUILT_MODES: readonly string[] = ["quick", "all"];

/** Builds `dist` if a source has changed since the last build and the run's mode needs it. */
export default function buildIfChanged(project: TestProject): void {
  if (!BUILT_MODES.includes(project.vite.config.mode)) return;
  const { status } = spawnSync(process.execPath, [SETUP, "build"], { stdio: "inherit" });
  if (status !== 0) throw new Error(`The build failed with the exit code ${status}. Its errors are above.`);
}
