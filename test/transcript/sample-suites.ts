import type { Score } from "../../src/schema/score.ts";
import type { SuitePlan } from "../../src/schema/suite.ts";
import type {
  AnsweredCell,
  CellResult,
  FinishedCell,
  NewSuiteRun,
  NumberedCase,
  PlannedCell,
  SuiteStore,
} from "../../src/store/transcript/suites.ts";
import { answer, EMPTY_OUTBOX, entry, event, message, opening, step, USAGE } from "./sample-writes.ts";

// Short builders for tests of suites.

export const SCORERS = ["exact-1", "judge-1"];

export const CONTROL = { state: "running", concurrency: 8, maxCostUsd: null } as const;

export function plan(of: Partial<SuitePlan> = {}): SuitePlan {
  return {
    name: "arithmetic",
    tags: [],
    configurations: [
      { name: "a", definitionHash: "d", agentName: "agent", model: "v/m", kind: "answer" },
      { name: "b", definitionHash: "e", agentName: "agent", model: "v/n", kind: "agent" },
    ],
    repetitions: 1,
    scorers: [],
    stopAfterFailures: null,
    keepWorkspaces: false,
    ...of,
  };
}

export function newRun(of: Partial<NewSuiteRun> = {}): NewSuiteRun {
  return { id: "run-1", plan: plan(), control: CONTROL, scorers: SCORERS, atMs: 10, ...of };
}

export function sampleCase(number: number, text = `What is ${number} + 1?`): NumberedCase {
  return { number, value: { id: `case-${number}`, messages: [text], expected: number + 1 } };
}

/** A cell of the case of the same number, with the same id in every run. */
export function cell(number: number, of: Partial<PlannedCell> = {}): PlannedCell {
  return {
    number,
    caseNumber: number,
    configuration: 0,
    repetition: 0,
    cell: `cell-${number}`,
    kind: "answer",
    ...of,
  };
}

export function cells(count: number): PlannedCell[] {
  return Array.from({ length: count }, (_, number) => cell(number));
}

export function result(of: Partial<CellResult> = {}): CellResult {
  return {
    state: "finished",
    attempt: 1,
    outcome: "answered",
    usage: USAGE,
    costUsd: 0.5,
    turns: 1,
    durationMs: 1200.5,
    paidAnswers: 1,
    storedAnswers: 0,
    endedAtMs: 300,
    ...of,
  };
}

export const failure = (of: Partial<CellResult> = {}): CellResult =>
  result({ state: "failed", outcome: "api", message: "The vendor rejected it", ...of });

export const score = (value = 1, of: Partial<Score> = {}): Score => ({ class: "scored", value, ...of });

/** The scores of all scorers; the second one has cost 0.25 dollars. */
export const SCORES = [
  { scorer: "exact-1", score: score(1, { passed: true }) },
  {
    scorer: "judge-1",
    score: score(0.5, { explanation: "Half of it", points: { tone: 1, facts: 0 }, costUsd: 0.25 }),
  },
];

export function finished(number: number, of: Partial<FinishedCell> = {}): FinishedCell {
  return { run: "run-1", number, cell: `cell-${number}`, result: result(), scores: SCORES, ...of };
}

/** A cell of one answer with a session of its own. */
export function answered(number: number, of: Partial<FinishedCell> = {}, text = "It is 2"): AnsweredCell {
  const session = `suite.cell-${number}`;
  const at = (n: number, kind: string) =>
    step({ session, run: session, number: n, kind, process: "p1", activityId: "1" });
  const write = { atMs: 250, outbox: EMPTY_OUTBOX, entries: [], result: null };
  return {
    ...finished(number, of),
    opening: opening({ step: at(0, "open-loop"), prompts: [message(`m-${number}`, "What is 1 + 1?")] }),
    write: {
      ...write,
      base: 1,
      step: at(1, "call-model"),
      outbox: { entries: [], events: [event(0)] },
      entries: [{ ...entry(1, text), message: answer(text) }],
    },
    closing: {
      ...write,
      base: 2,
      step: at(2, "close-loop"),
      status: "completed",
      outcome: { type: "answered", stopReason: "stop" },
      usage: USAGE,
      costUsd: 0.5,
      turns: 1,
      to: 2,
    },
  };
}

/** Creates and starts a run with cells, and a case for each. */
export async function startRun(
  suites: SuiteStore,
  planned: readonly PlannedCell[],
  of: Partial<NewSuiteRun> = {},
): Promise<void> {
  const run = newRun(of);
  await suites.createRun(run);
  await suites.addCases(
    run.id,
    planned.map(({ number }) => sampleCase(number)),
  );
  await suites.addCells(run.id, planned);
  await suites.startRun(run.id, 20);
}

/** Returns the state of each cell of a run, in order of number. */
export async function readStates(suites: SuiteStore, run = "run-1"): Promise<string[]> {
  const rows = await suites.readCells(run, { after: -1, limit: 1000 });
  return rows.map(({ state }) => state);
}
