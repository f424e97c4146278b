// CPU by thread and by function, of agents beside bare workflows. CPU time depends less on other load of the machine
// than elapsed time does. Linux only.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createNullAgent, startAgent, startBare } from "./agents.mjs";
import { openEnvironment, round } from "./environment.mjs";
import { measureFleet, TURNS } from "./fleet.mjs";

const PROBE = fileURLToPath(new URL("./thread-probe.cjs", import.meta.url));
const CLOCK_TICK_MS = 10;

/** How many functions of each thread are listed, by the time that they spend themselves. */
const LISTED = 25;

const SIDES = {
  bare: {
    script: "./bare-worker.mjs",
    what: "bare workflows",
    start: (client) => startBare(client, TURNS),
  },
  agents: {
    script: "./agent-worker.mjs",
    what: "agents",
    start: (client) => startAgent(client, createNullAgent({ turns: TURNS, tool: "null_unsafe" })),
  },
};

/**
 * Measures times without the profiler, which itself takes time, and functions in a second run. Each of the four runs has
 * a server of its own, because a server grows slower with its file.
 */
export async function measure({ log, quick, agents = quick ? 20 : 200 }) {
  if (!existsSync("/proc/thread-self/schedstat"))
    throw new Error("The profile reads the CPU time of threads from /proc, which only Linux has.");
  const turns = agents * TURNS;
  const profiles = mkdtempSync(join(tmpdir(), "holdfast-profile-"));
  const bare = await runSide("bare", agents, undefined, log);
  const own = await runSide("agents", agents, undefined, log);
  const functions = {};
  for (const side of Object.keys(SIDES)) {
    const folder = join(profiles, side);
    await runSide(side, agents, folder, log);
    functions[side] = Object.fromEntries(
      readdirSync(folder)
        .filter((file) => file.endsWith(".cpuprofile"))
        .map((file) => [file.replace(".cpuprofile", ""), listFunctions(join(folder, file), turns)]),
    );
  }
  log(`the profiles, for DevTools: ${profiles}`);
  const figures = { agents, turns };
  for (const thread of ["main", "workflow", "transcript", "pool", "core", "v8", "server"]) {
    figures[`${thread}MsPerTurn`] = round((own[thread] ?? 0) / turns, 3);
    figures[`bare${thread[0].toUpperCase()}${thread.slice(1)}MsPerTurn`] = round(
      (bare[thread] ?? 0) / turns,
      3,
    );
  }
  return { ...figures, functions };
}

/** Runs all agents on one worker. Returns the CPU time of each kind of thread, or profiles them into a folder. */
async function runSide(side, agents, profileFolder, log) {
  const { script, what, start } = SIDES[side];
  const stage = await openEnvironment();
  try {
    const folder = profileFolder ?? join(stage.folder, "threads");
    mkdirSync(folder);
    const worker = await stage.start(script, [], {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --require ${PROBE}`,
      BENCH_PROBE: folder,
    });
    await (await start(stage.client)).result();
    const server = findServer(stage.server.address);
    const read = () => ({ ...readThreads(worker.pid, folder), server: readProcessMs(server) });
    if (profileFolder !== undefined) worker.kill("SIGCONT");
    const before = read();
    await measureFleet(what, agents, () => start(stage.client), worker, log);
    const after = read();
    if (profileFolder !== undefined) {
      worker.kill("SIGCONT");
      await waitForProfiles(folder);
    }
    return Object.fromEntries(
      Object.entries(after).map(([thread, ms]) => [thread, ms - (before[thread] ?? 0)]),
    );
  } finally {
    await stage.strike();
  }
}

/**
 * Returns the CPU time in ms by kind of thread. `pool` is libuv's pool, and `core` the rest of the process: Temporal's
 * native code, whose threads come and go.
 */
function readThreads(pid, folder) {
  const spent = { core: readProcessMs(pid) };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const kind = findKind(pid, thread, folder);
    if (kind === undefined) continue;
    const ns = Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]);
    spent[kind] = (spent[kind] ?? 0) + ns / 1e6;
    spent.core -= ns / 1e6;
  }
  return spent;
}

function findKind(pid, thread, folder) {
  const known = join(folder, `${thread}.thread`);
  if (existsSync(known)) return readFileSync(known, "utf8");
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim() === "node" ? "pool" : undefined;
  } catch {
    return undefined; // The thread has ended.
  }
}

function readProcessMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

/** Finds the process of the dev server by the port in its arguments; a shell that supervises it has them too. */
function findServer(address) {
  const port = address.slice(address.lastIndexOf(":") + 1);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (args[1] === "server" && args[args.indexOf("--port") + 1] === port) return pid;
    } catch {
      // The process has ended.
    }
  }
  throw new Error(`No process of a dev server on port ${port} was found.`);
}

async function waitForProfiles(folder) {
  const files = () => readdirSync(folder);
  const wanted = new Set(
    files()
      .filter((file) => file.endsWith(".thread"))
      .map((file) => readFileSync(join(folder, file), "utf8"))
      .filter((kind) => kind !== "v8"),
  );
  while (![...wanted].every((kind) => isComplete(join(folder, `${kind}.cpuprofile`)))) await sleep(50);
}

function isComplete(path) {
  return existsSync(path) && readFileSync(path, "utf8").endsWith("}");
}

/** Lists the functions in which a thread spends most time, in ms a turn. */
function listFunctions(path, turns) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, "utf8"));
  const names = new Map(nodes.map(({ id, callFrame }) => [id, describeFunction(callFrame)]));
  const spent = new Map();
  for (const [nth, id] of samples.entries()) {
    const name = names.get(id);
    if (name === "(idle)" || name === "(root)") continue;
    spent.set(name, (spent.get(name) ?? 0) + timeDeltas[nth] / 1000);
  }
  const sorted = [...spent].sort(([, a], [, b]) => b - a).slice(0, LISTED);
  return Object.fromEntries(sorted.map(([name, ms]) => [name, round(ms / turns, 3)]));
}

function describeFunction({ functionName, url, lineNumber }) {
  const name = functionName || "(anonymous)";
  if (url === "") return name;
  const path = url
    .replace(/^file:\/\//, "")
    .split("/")
    .slice(-3)
    .join("/");
  return `${name} ${path}:${lineNumber + 1}`;
}
