import { defineConfig } from "vitest/config";

/** What a test needs stands in its file's suffix: `x.server.test.ts` asks for Temporal, and so on. */
const SUFFIXES = ["server", "postgres", "crash"];
const withSuffix = (suffix: string) => `test/**/*.${suffix}.test.ts`;

export default defineConfig({
  test: {
    // Threads share one heap and one native runtime of the SDK; processes do not.
    pool: "forks",
    // Tests wait more than they compute; the default leaves one of two cores idle.
    poolOptions: { forks: { minForks: 1, maxForks: 2 } },
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: SUFFIXES.map(withSuffix) },
      },
      {
        extends: true,
        test: {
          name: "server",
          include: [withSuffix("server")],
          globalSetup: ["test/support/dev-server.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: [withSuffix("postgres")],
          globalSetup: ["test/support/dev-server.ts", "test/support/postgres-server.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "crash",
          include: [withSuffix("crash")],
          globalSetup: ["test/support/dev-server.ts", "test/support/postgres-server.ts"],
        },
      },
    ],
  },
});
