import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** A test needs a Temporal server when it takes the address of the run's, or starts one itself. */
const ASKS_FOR_SERVER = /\binject\(\s*["']temporal["']|\bstartDevServer\b|support\/(temporal|machine)\.ts/;

/** One of these needs a PostgreSQL server beside it. */
const ASKS_FOR_POSTGRES = /\binject\(\s*["']postgres["']|postgres-bench\.ts|support\/postgres\.ts/;

const tests = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => join("test", file));
const asking = (pattern: RegExp) => tests.filter((file) => pattern.test(readFileSync(file, "utf8")));
const withPostgres = asking(ASKS_FOR_POSTGRES);
const withServer = asking(ASKS_FOR_SERVER).filter((file) => !withPostgres.includes(file));
/** An empty list would mean the default pattern. */
const orNone = (files: readonly string[]) => (files.length === 0 ? ["test/none"] : [...files]);

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
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: [...withServer, ...withPostgres] },
      },
      {
        extends: true,
        test: {
          name: "server",
          include: orNone(withServer),
          globalSetup: ["test/support/dev-server.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: orNone(withPostgres),
          globalSetup: ["test/support/dev-server.ts", "test/support/postgres-server.ts"],
        },
      },
    ],
  },
});
