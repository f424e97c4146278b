import { readFileSync } from "node:fs";
import { createNullAgent, startAgent, startBare } from "./agents.mjs";
import { openEnvironment, round } from "./environment.mjs";

export const TURNS = 10;

/** Half as many bare workflows as agents run before them, and half after them; for few agents, this many each time. */
const MIN_BARE = 200;

/** How many agents start at a time, so that the client does not limit the result. */
const STARTS_AT_ONCE = 50;

export async function measure({ log, quick, agents = quick ? 50 : 1000 }) {
  const stage = await openEnvironment();
  try {
    const { client } = stage;
    const bareCount = Math.max(Math.ceil(agents / 2), Math.min(agents, MIN_BARE));
    async function bare() {
      const worker = await stage.start("./bare-worker.mjs");
      await (await startBare(client, TURNS)).result();
      const ran = await measureFleet(
        "bare workflows",
        bareCount,
        () => startBare(client, TURNS),
        worker,
        log,
      );
      await stage.end(worker);
      return ran;
    }
    // Measured before and after: the server's file grows and its earlier timers fire, so that later runs are slower.
    const before = await bare();
    const worker = await stage.start("./agent-worker.mjs");
    const definition = createNullAgent({ turns: TURNS, tool: "null_unsafe" });
    await (await startAgent(client, definition)).result();
    const own = await measureFleet("agents", agents, () => startAgent(client, definition), worker, log);
    await stage.end(worker);
    const after = await bare();
    const bareTurnsPerSecond = (2 * bareCount * TURNS) / (before.seconds + after.seconds);
    return {
      agents,
      turnsPerSecond: round(own.turnsPerSecond, 1),
      bareTurnsPerSecond: round(bareTurnsPerSecond, 1),
      bareBeforeAndAfter: [round(before.turnsPerSecond, 1), round(after.turnsPerSecond, 1)],
      ratio: round(own.turnsPerSecond / bareTurnsPerSecond, 3),
      mbPerAgent: round(own.mb / agents, 3),
      failures: own.failures,
    };
  } finally {
    await stage.strike();
  }
}

export async function measureFleet(what, count, start, worker, log) {
  const idleMb = readResidentMb(worker.pid);
  let peakMb = idleMb;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, readResidentMb(worker.pid));
  }, 100);
  const from = performance.now();
  let failures = 0;
  let done = 0;
  const handles = [];
  for (let n = 0; n < count; n += STARTS_AT_ONCE) {
    const some = Array.from({ length: Math.min(STARTS_AT_ONCE, count - n) }, start);
    handles.push(...(await Promise.all(some)));
  }
  await Promise.all(
    handles.map(async (handle) => {
      try {
        const result = await handle.result();
        if (result?.outcome !== undefined && result.outcome.type !== "answered") failures += 1;
      } catch (error) {
        failures += 1;
        if (failures <= 3) log(`failed: ${error.cause?.message ?? error.message}`);
      }
      done += 1;
      if (done % 250 === 0) log(`${what}: ${done} of ${count}`);
    }),
  );
  clearInterval(watch);
  const seconds = (performance.now() - from) / 1000;
  log(`${what}: ${count} in ${seconds.toFixed(1)} s, ${(peakMb - idleMb).toFixed(0)} MB above idle`);
  return { seconds, turnsPerSecond: (count * TURNS) / seconds, mb: peakMb - idleMb, failures };
}

function readResidentMb(pid) {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}
