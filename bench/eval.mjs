// Runs of suites: cells of one answer, cells of ten turns against bare child workflows, what the processes and histories
// take, a killed worker, and a run of which most is finished.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import proto from "@temporalio/proto";
import { openEnvironment, round } from "./environment.mjs";
import { storeFinishedRun } from "./eval-finished-run.mjs";
import { CONCURRENCY } from "./eval-suites.mjs";

const TURNS = 10;

/** The worker of cells of one answer asks a vendor over HTTP, with this key. */
export const OVER_HTTP = { BENCH_HTTP: "1", OPENAI_API_KEY: "none" };

/** How often the vendor is asked for its counts while a moment is awaited. */
const LOOK_MS = 10;

const MEASUREMENTS = {
  turns: measureTurns,
  answers: measureAnswers,
  killed: measureKill,
  resumed: measureResume,
};

/** What `--part` takes. */
export const PARTS = Object.keys(MEASUREMENTS);

export async function measure({ log, quick, part, postgres }) {
  const size = quick
    ? { cells: 200, turnCells: 20, planned: 2_000, finished: 1_990 }
    : { cells: 10_000, turnCells: 1000, planned: 200_000, finished: 199_000 };
  const figures = {};
  for (const name of part === undefined ? PARTS : [part])
    Object.assign(figures, await inEnvironment((stage) => MEASUREMENTS[name](stage, size, log), postgres));
  return figures;
}

/** Each part has a server of its own: the server's file grows, and earlier timers fire, so that later runs are slower. */
async function inEnvironment(play, postgres) {
  const stage = await openEnvironment({ postgres });
  try {
    return await play(stage);
  } finally {
    await stage.strike();
  }
}

async function measureAnswers(stage, { cells }, log) {
  const vendor = await stage.start("./eval-vendor.mjs");
  const worker = await stage.start("./agent-worker.mjs", [], OVER_HTTP);
  const { url } = vendor.ready;
  await runSuite(stage, ["--answers", JSON.stringify({ name: "warm", cells: CONCURRENCY, vendor: url })]);
  const suite = { name: "answers", cells, vendor: url };
  const ended = await runSuite(stage, ["--answers", JSON.stringify(suite)]);
  assertFinished(ended, cells);
  log(
    `${cells} cells of one answer in ${ended.seconds.toFixed(1)} s, planned in ${ended.openSeconds.toFixed(1)} s`,
  );
  const histories = await measureHistories(stage.client, ended.run);
  return {
    cells,
    seconds: round(ended.seconds),
    cellsPerSecond: round(cells / ended.seconds, 1),
    planSeconds: round(ended.openSeconds),
    workerMb: round(readPeakMb(worker.pid), 1),
    clientMb: round(ended.mb, 1),
    ...histories,
  };
}

async function measureTurns(stage, { turnCells }, log) {
  async function measureBare() {
    const worker = await stage.start("./bare-worker.mjs");
    const run = (children) =>
      stage.client.workflow.execute("bareParent", {
        taskQueue: "bare",
        workflowId: randomUUID(),
        args: [{ children, turns: TURNS, window: CONCURRENCY }],
      });
    await run(1);
    const from = performance.now();
    await run(turnCells / 2);
    const seconds = (performance.now() - from) / 1000;
    log(`${turnCells / 2} bare child workflows in ${seconds.toFixed(1)} s`);
    await stage.end(worker);
    return seconds;
  }
  const before = await measureBare();
  const worker = await stage.start("./agent-worker.mjs");
  await runSuite(stage, ["--turns", JSON.stringify({ name: "warm", cells: 1, turns: TURNS })]);
  const suite = { name: "turns", cells: turnCells, turns: TURNS };
  const ended = await runSuite(stage, ["--turns", JSON.stringify(suite)]);
  assertFinished(ended, turnCells);
  log(`${turnCells} cells of ${TURNS} turns in ${ended.seconds.toFixed(1)} s`);
  const turnWorkerMb = readPeakMb(worker.pid);
  await stage.end(worker);
  const after = await measureBare();
  const perSecond = turnCells / ended.seconds;
  const barePerSecond = turnCells / (before + after);
  return {
    turnCells,
    turnCellsPerSecond: round(perSecond),
    bareTurnCellsPerSecond: round(barePerSecond),
    bareBeforeAndAfter: [before, after].map((seconds) => round(turnCells / 2 / seconds)),
    ratio: round(perSecond / barePerSecond, 3),
    turnWorkerMb: round(turnWorkerMb, 1),
  };
}

/**
 * Kills the worker when half of the answers are given, and starts another. An answer counts as repaid if the vendor gives it
 * again although it is in the store when it is asked for; see `eval-vendor.mjs`. Answers that were on their way to the dead
 * worker were not in the store.
 */
async function measureKill(stage, { cells }, log) {
  const { path, database } = stage.transcript;
  const vendor = await stage.start("./eval-vendor.mjs", ["--store", database ?? path]);
  const { url } = vendor.ready;
  const worker = await stage.start("./agent-worker.mjs", [], OVER_HTTP);
  const suite = { name: "killed", cells, vendor: url };
  const ending = runSuite(stage, ["--answers", JSON.stringify(suite)]);
  await waitForVendor(url, ({ answers }) => answers >= cells / 2);
  await stage.end(worker);
  const atKill = await readVendor(url);
  const killedAt = performance.now();
  await stage.start("./agent-worker.mjs", [], OVER_HTTP);
  await waitForVendor(url, ({ answers }) => answers > atKill.answers);
  const recoverySeconds = (performance.now() - killedAt) / 1000;
  const ended = await ending;
  assertFinished(ended, cells);
  const { repeated, repaid } = await readVendor(url);
  log(
    `the worker was killed after ${atKill.answers} answers, the next came ${recoverySeconds.toFixed(1)} s later; ` +
      `${repeated} were lost on their way, ${repaid} paid again although stored`,
  );
  return { killedSeconds: round(ended.seconds), recoverySeconds: round(recoverySeconds), repeated, repaid };
}

async function measureResume(stage, { planned, finished }, log) {
  const vendor = await stage.start("./eval-vendor.mjs");
  const { url } = vendor.ready;
  const from = performance.now();
  const run = await storeFinishedRun(
    stage.transcript,
    { name: "resumed", cells: planned, vendor: url },
    finished,
  );
  log(
    `${planned} cells stored, ${finished} of them finished, in ${((performance.now() - from) / 1000).toFixed(0)} s`,
  );
  const worker = await stage.start("./agent-worker.mjs", [], OVER_HTTP);
  let resumedAtMs;
  const ended = await runSuite(stage, ["--resume", run], (line) => {
    if (line.type === "resuming") resumedAtMs = line.atMs;
  });
  assertFinished(ended, planned);
  const { firstAtMs, answers } = await readVendor(url);
  if (answers !== planned - finished)
    throw new Error(`${answers} cells were asked, not ${planned - finished}`);
  log(
    `the first call ${firstAtMs - resumedAtMs} ms after resume(), the end after ${ended.seconds.toFixed(1)} s`,
  );
  return {
    resumeSeconds: round((firstAtMs - resumedAtMs) / 1000),
    resumedToEndSeconds: round(ended.seconds),
    resumeWorkerMb: round(readPeakMb(worker.pid), 1),
    resumeClientMb: round(ended.mb, 1),
  };
}

/** Runs a suite from a client's process. Returns its last line. */
export async function runSuite(stage, args, onLine = () => {}) {
  const client = await stage.start("./eval-client.mjs", args);
  let last;
  client.lines.on("line", (text) => {
    last = JSON.parse(text);
    onLine(last);
  });
  await once(client.lines, "close");
  if (last?.type !== "ended") throw new Error("the client ended before the run");
  return last;
}

export function assertFinished({ finished, status, reason }, cells) {
  if (finished !== cells || status !== "ended")
    throw new Error(`${finished} of ${cells} cells are finished, the run is ${status}: ${reason}`);
}

export async function readVendor(url) {
  return await (await fetch(url)).json();
}

export async function waitForVendor(url, isReached) {
  while (!isReached(await readVendor(url))) await sleep(LOOK_MS);
}

/** The largest amount of resident memory that a process had. */
export function readPeakMb(pid) {
  const kb = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}

/** Adds up the histories of a suite, through continue-as-new, and of its parts. */
async function measureHistories(client, run) {
  const sizes = [];
  for (let runId = await readFirstRunId(client, run); runId !== undefined; ) {
    const events = await readHistory(client, run, runId);
    sizes.push(measureEvents(events));
    for (const { childWorkflowExecutionStartedEventAttributes: started } of events) {
      if (started == null) continue;
      const { workflowId, runId: childRun } = started.workflowExecution;
      sizes.push(measureEvents(await readHistory(client, workflowId, childRun)));
    }
    runId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return {
    suiteHistories: sizes.length,
    suiteHistoryBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    largestHistoryBytes: Math.max(...sizes),
  };
}

async function readFirstRunId(client, workflowId) {
  const [started] = await readHistory(client, workflowId);
  return started.workflowExecutionStartedEventAttributes.firstExecutionRunId;
}

async function readHistory(client, workflowId, runId) {
  return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events;
}

function measureEvents(events) {
  const encode = (event) => proto.temporal.api.history.v1.HistoryEvent.encode(event).finish().length;
  return events.reduce((sum, event) => sum + encode(event), 0);
}
