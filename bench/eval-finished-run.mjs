// Writes a run of a suite whose cells are almost all finished, through the store's own functions.

import { randomUUID } from "node:crypto";
import { digestConfiguration } from "../dist/client/suites/cell-id.js";
import { planCells } from "../dist/client/suites/plan-cells.js";
import { digestScorer } from "../dist/store/transcript/digest-scorer.js";
import { openTranscript } from "../dist/store/transcript/open-transcript.js";
import { createAnswerSuite } from "./eval-suites.mjs";

const PAGE_CELLS = 500;
const USAGE = { input: 100, output: 10, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 110 };

/**
 * Stores a stopped run of cells of one answer, of which the first ones are finished. Returns its id.
 *
 * @param location - Where the transcript is, as `openTranscript` takes it.
 * @param suite - What `createAnswerSuite` takes.
 */
export async function storeFinishedRun(location, suite, finished) {
  const transcript = await openTranscript(location);
  const { suites } = transcript;
  const run = `suite-${randomUUID()}`;
  const { configurations, scorers, repetitions, concurrency, ...loaded } = createAnswerSuite(suite);
  const [{ name, definition }] = configurations;
  const configuration = {
    name,
    definitionHash: await transcript.saveDefinition(definition),
    agentName: definition.name,
    model: `${definition.model.provider}/${definition.model.id}`,
    kind: "answer",
  };
  const plan = {
    name: suite.name,
    tags: [],
    configurations: [configuration],
    repetitions,
    scorers: scorers.map(({ scorer }) => scorer),
    stopAfterFailures: loaded.stopAfterFailures,
    keepWorkspaces: false,
  };
  const digests = plan.scorers.map(digestScorer);
  const control = { state: "running", concurrency, maxCostUsd: null };
  await suites.createRun({ id: run, plan, control, scorers: digests, atMs: Date.now() });
  const planned = [{ definition, digest: digestConfiguration(definition, {}, undefined), configuration }];
  await planCells({ run, cases: loaded.cases(), configurations: planned, repetitions }, suites, {});
  const score = { class: "scored", value: 1, passed: true };
  for (let after = -1; after + 1 < finished; ) {
    const cells = await suites.readPending(run, after, Math.min(PAGE_CELLS, finished - after - 1));
    // The store puts writes of one moment into one commit.
    await Promise.all(
      cells.map(({ number, cell }) => {
        const scores = digests.map((scorer) => ({ scorer, score }));
        return suites.finishCell({ run, number, cell, result: buildResult(cell), scores });
      }),
    );
    after = cells.at(-1).number;
  }
  await suites.startRun(run, Date.now());
  await suites.setStatus(run, { status: "stopped", reason: "for the benchmark", atMs: Date.now() });
  await transcript.close();
  return run;
}

function buildResult(cell) {
  return {
    state: "finished",
    attempt: 1,
    session: `cell-${cell}`,
    loopId: `cell-${cell}.1.1`,
    branch: "main",
    outcome: "answered",
    usage: USAGE,
    costUsd: 0.000_12,
    turns: 1,
    durationMs: 10,
    paidAnswers: 1,
    storedAnswers: 0,
    endedAtMs: Date.now(),
  };
}
