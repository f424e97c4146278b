import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";

/** What a test needs stands in its file's suffix: `x.server.test.ts` asks for Temporal, and so on. */
const SUFFIXES = ["server", "postgres", "crash"] as const;
const SERVERS = {
  server: ["test/support/dev-server.ts"],
  postgres: ["test/support/dev-server.ts", "test/support/postgres-server.ts"],
  crash: ["test/support/dev-server.ts", "test/support/postgres-server.ts"],
};

const suffixed = (suffix: string) => `test/**/*.${suffix}.test.ts`;
const project = (name: string, settings: object): TestProjectConfiguration => ({
  extends: true,
  test: { name, ...settings },
});

/**
 * Processes on two cores: tests wait more than they compute. The minimum equals the maximum because tinypool may end an
 * idle process twice, which fails the run with "Terminating worker thread".
 */
const FORKS = 3;

const BOUNDED_PROPERTIES = fileURLToPath(new URL("test/support/fast-check.ts", import.meta.url));

export default defineConfig(({ mode }) => ({
  plugins: [
    {
      name: "properties-at-the-depth-of-the-run",
      enforce: "pre",
      resolveId: (source, importer) =>
        source === "fast-check" && importer !== BOUNDED_PROPERTIES ? BOUNDED_PROPERTIES : undefined,
    },
  ],
  test: {
    // Threads share one heap and one native runtime of the SDK; processes do not.
    pool: "forks",
    // Each process loads a module once, not once per file. Only the root's setting counts: vitest ignores a project's.
    poolOptions: { forks: { minForks: FORKS, maxForks: FORKS, isolate: false } },
    setupFiles: ["test/support/restore.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    // `npm run test:all` is vitest's mode `all`: see test/support/depth.ts.
    env: mode === "all" ? { HOLDFAST_TESTS: "all", FC_RUNS: process.env["FC_RUNS"] ?? "10000" } : {},
    projects: [
      project("unit", {
        include: ["test/**/*.test.ts"],
        exclude: SUFFIXES.map(suffixed),
      }),
      ...SUFFIXES.map((suffix) =>
        project(suffix, { include: [suffixed(suffix)], globalSetup: SERVERS[suffix] }),
      ),
    ],
  },
}));
