// Plays scenarios one after another and has each judged. A scenario is a file of ./scenarios; see docs/chaos.md.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NotPlayableError, ScenarioEnvironment, SharedEnvironment } from "./environment.mjs";
import { createFinding } from "./findings.mjs";

/** A scenario that says nothing else is over by then, or stuck. */
const LIMIT_MS = 180_000;

/** Logs below this depth of a scenario's folder are not kept as evidence. */
const LOG_DEPTH = 4;

/** Every scenario, by name. */
export async function listScenarios() {
  const files = readdirSync(new URL("scenarios/", import.meta.url)).filter((file) => file.endsWith(".mjs"));
  const modules = await Promise.all(
    files.sort().map((file) => import(new URL(`scenarios/${file}`, import.meta.url).href)),
  );
  return modules.map((module) => module.default);
}

/**
 * @param options.root - The folder that holds everything; the caller removes it.
 * @param options.evidence - Where the evidence of failed scenarios is kept.
 * @param options.graceMs - What the processes of a scenario may take to end after it.
 * @param options.onReport - Receives each report as soon as its scenario is over.
 * @returns A report for each scenario that was begun.
 */
export async function playAll(scenarios, { root, mark, evidence, signal, graceMs, onReport = () => {} }) {
  const world = new SharedEnvironment({ root, mark, graceMs });
  const reports = [];
  // What a scenario has left in this process after its end, such as a call of a client that was closed.
  const onLate = (error) => {
    if (!signal?.aborted) process.stderr.write(`after a scenario: ${error.message}\n`);
  };
  process.on("uncaughtException", onLate);
  try {
    for (const scenario of scenarios) {
      if (signal?.aborted) break;
      const report = await playOne(scenario, { world, evidence, signal });
      if (signal?.aborted) break;
      reports.push(report);
      onReport(report);
    }
  } finally {
    await world.close();
    process.off("uncaughtException", onLate);
  }
  return reports;
}

async function playOne(scenario, { world, evidence: folder, signal }) {
  const stage = new ScenarioEnvironment(world, scenario.name);
  const startedAtMs = performance.now();
  const findings = [];
  let evidence;
  let notPlayed;
  try {
    evidence = await withTimeLimit(scenario.limitMs ?? LIMIT_MS, scenario.play(stage), signal);
    findings.push(...scenario.judge(evidence));
  } catch (error) {
    if (error instanceof NotPlayableError) notPlayed = error.message;
    else if (error instanceof OvertimeError) findings.push(createFinding("stuck", error.message));
    else findings.push(createFinding("broken", `the scenario could not be played: ${error.stack ?? error}`));
  }
  if (findings.length > 0 && folder !== undefined && !signal?.aborted)
    storeEvidence(join(folder, scenario.name), { evidence, findings, from: stage.folder });
  findings.push(...(await stage.close()));
  const { name } = scenario;
  const ms = performance.now() - startedAtMs;
  return { name, ms, findings, ...(notPlayed === undefined ? {} : { notPlayed }) };
}

class OvertimeError extends Error {}

async function withTimeLimit(limitMs, playing, signal) {
  playing.catch(() => {});
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new OvertimeError(`not over after ${limitMs / 1000} s`)), limitMs);
  });
  let stop;
  const interrupted = new Promise((_, reject) => {
    stop = () => reject(new Error("interrupted"));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
  interrupted.catch(() => {});
  try {
    return await Promise.race([playing, late, interrupted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** What a judge has looked at, and the logs of the processes. */
function storeEvidence(into, { evidence, findings, from }) {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, "evidence.json"), `${JSON.stringify({ findings, evidence }, null, 1)}\n`);
  for (const log of listLogs(from)) {
    try {
      cpSync(join(from, log), join(into, log.replaceAll("/", "-")));
    } catch {
      // A disk that is full or gone is what some scenarios play.
    }
  }
}

function listLogs(folder, below = "", depth = 0) {
  try {
    return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((one) => {
      const name = join(below, one.name);
      if (one.isDirectory()) return depth < LOG_DEPTH ? listLogs(folder, name, depth + 1) : [];
      return one.isFile() && one.name.endsWith(".log") ? [name] : [];
    });
  } catch {
    return [];
  }
}
