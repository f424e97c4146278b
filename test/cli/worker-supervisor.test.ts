import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildWorkerArguments, endWorker, spawnWorker } from "../../src/apps/cli/worker-child.ts";
import {
  getRestartDelayMs,
  type WorkerEvent,
  WorkerSupervisor,
} from "../../src/apps/cli/worker-supervisor.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-keeper-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A program in the role of the worker. */
async function program(source: string): Promise<readonly string[]> {
  const file = join(folder, "worker.mjs");
  await writeFile(file, source);
  return [file];
}

const READY = `console.log(JSON.stringify({ type: "ready", pid: process.pid, taskQueue: "q" }));`;

test("options become the worker's arguments", () => {
  expect(
    buildWorkerArguments({
      home: "/h",
      address: "a:1",
      namespace: "n",
      taskQueue: "q",
      tools: ["t.js"],
      deadWorkerDetection: false,
    }),
  ).toEqual([
    "--home",
    "/h",
    "--address",
    "a:1",
    "--namespace",
    "n",
    "--task-queue",
    "q",
    "--tools",
    "t.js",
    "--no-dead-worker-detection",
  ]);
  expect(buildWorkerArguments({})).toEqual([]);
});

test("a worker that dies is restarted at once; the supervisor ends it when it is stopped", async () => {
  const args = await program(
    `${READY} setInterval(() => {}, 1000); process.on("SIGTERM", () => process.exit(0));`,
  );
  const events: WorkerEvent[] = [];
  const pids: number[] = [];
  let second = (): void => {};
  const again = new Promise<void>((resolve) => {
    second = resolve;
  });
  const keeper = new WorkerSupervisor(
    () => spawnWorker({}, { env: process.env, program: args, onLog: () => {} }),
    (event) => {
      events.push(event);
      if (event.type === "worker-ready" && pids.push(event.ready.pid) === 2) second();
    },
  );
  const first = await keeper.start();
  process.kill(first!.pid, "SIGKILL");
  await again;
  await keeper.stop();
  expect(events.map(({ type }) => type)).toEqual(["worker-ready", "worker-died", "worker-ready"]);
  expect(events[1]).toMatchObject({ end: { signal: "SIGKILL" }, restartInMs: 0 });
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
});

test("a worker that never becomes ready is abandoned", async () => {
  const args = await program(`console.error("no server"); process.exit(3);`);
  let starts = 0;
  const keeper = new WorkerSupervisor(
    () => {
      starts += 1;
      return spawnWorker({}, { env: process.env, program: args, onLog: () => {} });
    },
    () => {},
  );
  expect(await keeper.start()).toBeUndefined();
  expect(starts).toBe(3);
  await keeper.stop();
});

test("workers that die early are restarted with growing delays, up to a bound", () => {
  expect([0, 1, 2, 3, 20].map(getRestartDelayMs)).toEqual([0, 250, 500, 1000, 10_000]);
});

test("a worker that does not drain in time is killed", async () => {
  const args = await program(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); ${READY}`);
  const child = spawnWorker({}, { env: process.env, program: args, onLog: () => {} });
  await child.ready;
  expect(await endWorker(child, 100)).toMatchObject({ signal: "SIGKILL" });
});

test("text on standard output other than the ready line is ignored", async () => {
  const args = await program(`console.log("hello"); console.log("{}"); ${READY}`);
  const child = spawnWorker({}, { env: process.env, program: args, onLog: () => {} });
  expect(await child.ready).toMatchObject({ type: "ready", taskQueue: "q" });
  await child.ended;
});

test("a child that must exit with its parent ends when the parent is killed", async () => {
  const leash = new URL("../../src/apps/cli/exit-with-parent.ts", import.meta.url);
  const { outputText } = ts.transpileModule(await readFile(leash, "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  await writeFile(join(folder, "leash.mjs"), outputText);
  const child = await program(
    `import "./leash.mjs"; ${READY} setInterval(() => {}, 1000); process.on("SIGTERM", () => process.exit(7));`,
  );
  const spawned = spawnWorker({}, { env: process.env, program: child, onLog: () => {} });
  await spawned.ready;
  spawned.process.stdin?.end();
  expect(await spawned.ended).toMatchObject({ code: 7 });
});
