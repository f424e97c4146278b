import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type Plugin } from "vitest/config";
import { BUILT_MODES } from "./test/support/built-files.ts";
import { SkipReporter } from "./test/support/report-skips.ts";
import { TestOrder } from "./test/support/test-order.ts";
import { SERVER_SUFFIXES } from "./test/support/test-suffixes.ts";

/**
 * Processes on two cores: tests wait more than they compute. The minimum equals the maximum because tinypool may end an
 * idle process twice, which fails the run with "Terminating worker thread".
 */
const FORKS = 3;

const BOUNDED_PROPERTIES = fileURLToPath(new URL("test/support/fast-check.ts", import.meta.url));

const SOURCES = fileURLToPath(new URL("src/", import.meta.url));
const BUILT = fileURLToPath(new URL("dist/", import.meta.url));

/** These tests replace modules that sources import, which vitest cannot do in a module that Node loads. */
const MOCKING_TESTS = ["confine-steps.test.ts", "search-tool.test.ts"];

/**
 * Lets tests import the built file of each source: users run these, and a module that Node itself loads makes the
 * properties a quarter faster than one that vitest evaluates.
 */
const builtFiles: Plugin = {
  name: "built-files",
  enforce: "pre",
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith(".") || !source.endsWith(".ts")) return undefined;
    const file = join(dirname(importer), source);
    if (importer.startsWith(SOURCES) || !file.startsWith(SOURCES)) return undefined;
    if (MOCKING_TESTS.some((name) => importer.endsWith(sep + name))) return undefined;
    return `${BUILT}${file.slice(SOURCES.length, -"ts".length)}js`;
  },
};

/**
 * One project for all tests: vitest gives each project processes and a module graph of its own, and waits for one before
 * it begins the next. Mode `quick` is `npm test`, mode `all` is `npm run test:all` (see test/support/test-depth.ts); mode `unit`
 * leaves out what needs a server. Without a mode, tests import the sources, so that a change needs no build.
 */
export default defineConfig(({ mode }) => ({
  plugins: [
    ...(BUILT_MODES.includes(mode) ? [builtFiles] : []),
    {
      name: "properties-at-the-depth-of-the-run",
      enforce: "pre",
      resolveId: (source, importer) =>
        source === "fast-check" && importer !== BOUNDED_PROPERTIES ? BOUNDED_PROPERTIES : undefined,
    },
    {
      // Beside the reporters that the command line names, which replace those of `test.reporters`.
      name: "skips-with-their-reasons",
      configureVitest: ({ vitest }) => {
        vitest.config.reporters.push(new SkipReporter());
      },
    },
  ],
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      ...(mode === "unit" ? SERVER_SUFFIXES.map((suffix) => `test/**/*.${suffix}.test.ts`) : []),
    ],
    // Threads share one heap and one native runtime of the SDK; processes do not.
    pool: "forks",
    poolOptions: {
      forks: {
        minForks: FORKS,
        maxForks: FORKS,
        // Each process loads a module once, not once per file.
        isolate: false,
        execArgv: [
          // Properties make much short-lived garbage.
          "--max-semi-space-size=64",
          // Functions are optimised after four times as much work as by default (67,584 bytes of bytecode): most tests end
          // before optimised code has saved the time that its compilation takes.
          "--interrupt-budget=270336",
        ],
      },
    },
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
    runner: "test/support/test-runner.ts",
    sequence: { sequencer: TestOrder },
    globalSetup: ["test/support/built-files.ts", "test/support/test-servers.ts"],
    setupFiles: ["test/support/restore-process.ts"],
    // Only a test that hangs takes longer, on a busy machine too.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 60_000 } },
    env: {
      // Tests run on a host that cannot make a sandbox, too. Those of the sandbox state another.
      HOLDFAST_SANDBOX: "off",
      ...(mode === "all" ? { HOLDFAST_TESTS: "all", FC_RUNS: process.env["FC_RUNS"] ?? "10000" } : {}),
    },
  },
}));
