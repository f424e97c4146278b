import { defineConfig } from "vitest/config";
import QuickFirstSequencer, { SLOWEST } from "./quick-first-sequencer.ts";

/** About no file that is mutated, and slow. */
const OTHERS = ["extract-json.test.ts"];
const isQuick = process.env["MUTATION_QUICK"] !== undefined;
/** Names of test files, with stars perhaps: what they kill is dead, what they leave is tried again with all. */
const only = process.env["MUTATION_TESTS"]?.split(",") ?? ["**/*"];

/** A name of another folder has a slash. */
const isCore = (name: string) => name === "**/*" || !name.includes("/");

/** The tests of the core alone, as Stryker runs them once per mutant: few runs, the same ones each time. */
export default defineConfig({
  test: {
    include: only.map((name) => `test/${isCore(name) ? "core/" : ""}${name}.test.ts`),
    exclude: [...OTHERS, ...(isQuick ? SLOWEST : [])].map((name) => `test/core/${name}`),
    setupFiles: ["test/mutation/reset-mutant.ts"],
    sequence: { sequencer: QuickFirstSequencer },
    // Modules are read once per mutant, not once per file: the core keeps nothing between two tests.
    poolOptions: { threads: { isolate: false } },
    env: { FC_RUNS: "60" },
    testTimeout: 120_000,
  },
});
