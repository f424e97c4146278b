// Loaded into a worker's process before its own code (`--require`): reports the thread that runs it, and profiles it
// between two SIGCONT, a signal that no library uses. The main thread loads it first, and each thread that starts later loads it as well.
const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { Session } = require("node:inspector");
const { join } = require("node:path");
const { BroadcastChannel, isMainThread, workerData } = require("node:worker_threads");

const FOLDER = process.env.BENCH_PROBE;

const role = isMainThread ? "main" : typeof workerData?.path === "string" ? "transcript" : "workflow";
const thread = readFileSync("/proc/thread-self/stat", "utf8").split(" ", 1)[0];
writeFileSync(join(FOLDER, `${thread}.thread`), role);
// Before any work of libuv's pool: these threads are V8's.
if (isMainThread) {
  for (const id of readdirSync("/proc/self/task"))
    if (id !== thread) writeFileSync(join(FOLDER, `${id}.thread`), "v8");
}

const channel = new BroadcastChannel("bench-profile");
let session;
function toggleProfile() {
  if (session === undefined) {
    session = new Session();
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.start");
    return;
  }
  session.post("Profiler.stop", (_error, { profile }) =>
    writeFileSync(join(FOLDER, `${role}.cpuprofile`), JSON.stringify(profile)),
  );
  session.disconnect();
  session = undefined;
}
channel.onmessage = toggleProfile;
channel.unref();
if (isMainThread) {
  process.on("SIGCONT", () => {
    channel.postMessage("toggle");
    toggleProfile();
  });
}
