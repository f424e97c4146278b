// The suites of the benchmarks of evaluations.
import { defineSuite } from "../dist/config/suite-file/define-suite.js";
import { createNullAgent } from "./agents.mjs";

/** Cells that are asked side by side, and the connections of others that are compared. */
export const CONCURRENCY = 40;

/**
 * Numbers cases. Each name has cases of its own, so that no stored answer of another run is reused.
 *
 * @param conversations - Each case whose number is divisible by it has two messages, and so a run of its own.
 */
export function* listCases(name, cells, conversations = Number.POSITIVE_INFINITY) {
  for (let n = 0; n < cells; n++) {
    const first = `Repeat ${name}-${n}`;
    const last = n % conversations === 0 ? `${first}-again` : first;
    const input = last === first ? first : [first, last];
    // Some answers are wrong, as in any suite.
    yield { id: `c${n}`, input, expected: n % 8 === 0 ? "another" : last.split(" ").at(-1) };
  }
}

/** Creates a suite of cells of one answer, which `eval-vendor.mjs` gives. */
export function createAnswerSuite({ name, cells, vendor, conversations }) {
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
    cases: () => listCases(name, cells, conversations),
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
