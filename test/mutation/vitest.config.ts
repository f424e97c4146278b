import { defineConfig } from "vitest/config";

/** The tests of the core alone, as Stryker runs them once per mutant: few runs, the same ones each time. */
export default defineConfig({
  test: {
    include: ["test/core/**/*.test.ts"],
    setupFiles: ["test/mutation/same-runs.ts"],
    env: { FC_RUNS: "60" },
    testTimeout: 20_000,
  },
});
