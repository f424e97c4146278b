import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTranscript } from "../../../dist/store/transcript/open-transcript.js";
import { checkRun } from "./check-run.mjs";
import { collectEvidence } from "./evidence.mjs";
import { listHitSessions, measureRecoveries } from "./kills.mjs";
import { moveSession } from "./move-session.mjs";
import { play, prepare } from "./run.mjs";
import { formatSessionName } from "./scenarios.mjs";
import { WorkerSupervisor } from "./worker-supervisor.mjs";

/** A run that has not ended by then will not. */
const DEADLINE_MS = 150_000;

/**
 * Many runs at once over workers that die at the places that they are told. When all is over, each run is judged.
 *
 * @param wave.workers - For each worker that is kept alive, where its lives end: `[["claim:after:3", "store:before:1"]]`.
 * @param wave.during - What else happens, once the runs have begun.
 * @param wave.home - Of the workers, where it is not to be in the stage's folder.
 * @param wave.scenarios - One run for each name; a name may be there more than once.
 */
export async function playWave(stage, wave) {
  const { name, workers, scenarios, patienceMs = DEADLINE_MS, env, during } = wave;
  const folder = join(stage.folder, name);
  const home = wave.home ?? join(folder, "home");
  await mkdir(folder, { recursive: true });
  await mkdir(home, { recursive: true });
  const killLog = join(folder, "kills.jsonl");
  await writeFile(killLog, "");
  const database = env?.HOLDFAST_DATABASE_URL;
  const open = () => openTranscript({ path: join(home, "transcript.db"), database });
  let transcript = await open();
  /** Lets something happen to the files of the transcript while this process has none of them open. */
  const reopen = async (between) => {
    await transcript.close().catch(() => {});
    await between();
    transcript = await open();
  };
  const runs = await Promise.all(
    scenarios.map((scenario, nth) => prepare(name, scenario, nth, { folder, vendorUrl: stage.vendorUrl })),
  );
  const looks = [];
  const snapshot = async (death) => {
    const steps = new Map();
    for (const { session } of runs) steps.set(session, await transcript.readSteps(session));
    looks.push({ death, steps });
  };
  let looking = Promise.resolve();
  const onDeath = (death) => {
    looking = looking.then(() => snapshot(death));
  };
  const { address, namespace, serverBackAtMs } = stage;
  const common = { address, namespace, serverBackAtMs, home, taskQueue: name, killLog, onDeath };
  const keepers = [];
  /** Keeps one more worker; `differs` are options of the keeper that differ from those of the others. */
  const keep = async (kills, more = {}, differs = {}) => {
    const log = join(folder, `worker-${keepers.length}.log`);
    const keeper = new WorkerSupervisor({ ...common, kills, log, env: { ...env, ...more }, ...differs });
    keepers.push(keeper);
    await keeper.start();
    return { keeper, log };
  };
  try {
    await Promise.all(workers.map((kills) => keep(kills)));
    const forks = [];
    const begin = (run) => {
      const nth = run.session.split("_").at(-1);
      const another = async (scenario, more = {}) => {
        const made = await prepare(name, scenario, nth, { folder, vendorUrl: stage.vendorUrl });
        runs.push({ ...made, ...more });
        forks.push(begin(runs.at(-1)));
      };
      const branchOff = () => another("forked");
      const carryOver = async () => {
        const brought = await moveSession(transcript, run.session, formatSessionName(name, "imported", nth));
        await another("imported", { brought });
      };
      const world = { ...stage, transcript, branchOff, carryOver };
      return play(run, world, { taskQueue: name, timeoutMs: patienceMs });
    };
    const playing = runs.map(begin);
    await during?.({ keepers, keep, reopen, runs, home, killLog });
    await Promise.all(playing);
    await Promise.all(forks);
    await looking;
    await snapshot(undefined);
    const passed = await stopAll(keepers, killLog);
    const kills = listHitSessions(await readKills(killLog), looks, runs, workers.length);
    await stage.vendorLog.read();
    const evidence = [];
    for (const run of runs) evidence.push(await collectEvidence(run, { ...stage, transcript }));
    const judged = evidence.map(checkRun);
    const own = keepers.flatMap(({ ownEnds }) => ownEnds.map((what) => ({ kind: "worker", what })));
    return {
      name,
      kills,
      runs: runs.length,
      recoveries: measureRecoveries(kills, looks),
      violations: [...judged.flatMap(({ violations }) => violations), ...own],
      again: judged.map(({ again }) => again),
      passed,
      evidence,
      folder,
    };
  } finally {
    await Promise.all(keepers.map((keeper) => keeper.stop("SIGKILL")));
    await transcript.close();
  }
}

/** Asked to end, they say what they have passed. */
async function stopAll(keepers, killLog) {
  await Promise.all(keepers.map((keeper) => keeper.stop("SIGTERM")));
  const passed = {};
  for (const line of await readLines(killLog))
    if (line.type === "ended")
      for (const [point, times] of Object.entries(line.passed)) passed[point] = (passed[point] ?? 0) + times;
  return passed;
}

async function readKills(killLog) {
  return (await readLines(killLog)).filter(({ type }) => type === "killed");
}

async function readLines(file) {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

/** What nobody needs any more. */
export async function removeWaveFiles({ folder }) {
  await rm(folder, { recursive: true, force: true });
}
