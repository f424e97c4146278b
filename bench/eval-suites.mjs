// The suites of the benchmarks of evaluations.
import { defineSuite } from "../dist/config/suite-file/define-suite.js";
import { createNullAgent } from "./agents.mjs";

/** Cells that are asked side by side, and the connections of others that are compared. */
export const CONCURRENCY = 40;

/** Numbers cases. Each name has cases of its own, so that no stored answer of another run is reused. */
export function* listCases(name, cells, messages = 1) {
  for (let n = 0; n < cells; n++) {
    const word = `${name}-${n}`;
    const input = messages === 1 ? `Repeat ${word}` : [`Repeat ${word}`, `Repeat ${word}-again`];
    // Some answers are wrong, as in any suite.
    yield {
      id: `c${n}`,
      input,
      expected: n % 10 === 0 ? "another" : messages === 1 ? word : `${word}-again`,
    };
  }
}

/**
 * Creates a suite of cells of one answer, which `eval-vendor.mjs` gives.
 *
 * @param cases - By default as many as `cells`, with one message each.
 */
export function createAnswerSuite({ name, cells, vendor, cases = () => listCases(name, cells) }) {
  const model = {
    id: "scripted",
    api: "openai_completions",
    provider: "scripted",
    baseUrl: `${vendor}/v1`,
    contextWindow: 200_000,
    cost: { input: 1, output: 2 },
  };
  return defineSuite({
    name,
    configurations: [{ name: "scripted", agent: { name: "scripted", model } }],
    concurrency: CONCURRENCY,
    scorers: [{ type: "exact" }],
    cases,
  });
}

/** Creates a suite of agents of several turns, which a worker's own model answers. */
export function createTurnSuite({ name, cells, turns }) {
  const agent = createNullAgent({ turns, tool: "null_unsafe" });
  return defineSuite({
    name,
    configurations: [{ name: "turns", agent }],
    concurrency: CONCURRENCY,
    scorers: [{ type: "exact" }],
    cases: () => listCases(name, cells),
  });
}
