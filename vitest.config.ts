import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** A test needs a Temporal server when it takes the address of the run's, or starts one itself. */
const ASKS_FOR_SERVER = /\binject\(\s*["']temporal["']|\bstartDevServer\b|support\/temporal\.ts/;

const tests = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => join("test", file));
const withServer = tests.filter((file) => ASKS_FOR_SERVER.test(readFileSync(file, "utf8")));

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
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: withServer },
      },
      {
        extends: true,
        test: {
          name: "server",
          // An empty list would mean the default pattern.
          include: withServer.length === 0 ? ["test/none"] : withServer,
          globalSetup: ["test/support/dev-server.ts"],
        },
      },
    ],
  },
});
