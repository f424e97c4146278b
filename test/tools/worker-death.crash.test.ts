import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isGroupAlive, killGroup, signalGroup } from "../../src/platform/process/process-group.ts";
import { isThorough } from "../support/test-depth.ts";
import { eventually, killMarked, listCommandLines } from "./processes.ts";

// A separate process runs one command through the supervisor and receives SIGKILL, as a worker would.

let folder: string;
let calls = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-death-"));
  await build({
    stdin: {
      contents: `
        import { writeFileSync } from "node:fs";
        import { startWithoutSandbox } from "./src/platform/process/process-starter.ts";
        import { runSupervised } from "./src/platform/process/run-supervised.ts";
        const [script, key, moment] = process.argv.slice(2);
        await runSupervised({
          start: startWithoutSandbox, command: "bash", args: ["-c", script], cwd: "/",
          env: { PATH: process.env.PATH, HOLDFAST_CALL: key },
          signal: new AbortController().signal, timeoutMs: 60000, maxOutputBytes: 1000,
          onSpawned: async (group) => {
            process.stdout.write(JSON.stringify(group) + "\\n");
            if (moment === "unclaimed") process.kill(process.pid, "SIGKILL");
            if (moment === "released") setImmediate(() => process.kill(process.pid, "SIGKILL"));
          },
          onOutput: (_, text) => process.stdout.write(text),
        });`,
      resolveDir: resolve(import.meta.dirname, "../.."),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: join(folder, "worker.mjs"),
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

type Worker = { child: ChildProcess; output: () => string; marker: string; key: string };

function startWorker(script: string, moment = "running"): Worker {
  calls += 1;
  const key = `death-${process.pid}-${calls}`;
  const child = spawn(process.execPath, [join(folder, "worker.mjs"), script, key, moment]);
  const marker = `HOLDFAST_CALL=${key}`;
  onTestFinished(() => {
    child.kill("SIGKILL");
    killMarked(marker);
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.pipe(process.stderr);
  return { child, output: () => output, marker, key };
}

async function killWhenReady(worker: Worker): Promise<{ pgid: number; startTime: string }> {
  await eventually(worker.output, (output) => output.includes("ready\n"));
  worker.child.kill("SIGKILL");
  return JSON.parse(worker.output().split("\n")[0]!);
}

describe("SIGKILL of the worker leaves no process of the command", () => {
  test.each([
    ["one process", "echo ready; exec sleep 1000"],
    ["grandchildren", "bash -c 'bash -c \"sleep 1000 & wait\" & wait' & echo ready; wait"],
    ["a command that ignores signals", "trap '' TERM HUP INT PIPE; echo ready; while :; do sleep 1; done"],
    [
      "a command that signals its own group",
      "trap '' TERM HUP INT QUIT; kill -TERM 0; kill -HUP 0; kill -INT 0; kill -QUIT 0; echo ready; sleep 1000",
    ],
    [
      "a tree that forks",
      "f() { [ $1 = 0 ] || { f $(($1-1)) & f $(($1-1)) & }; sleep 1000; }; f 4 & echo ready; wait",
    ],
    [
      "a command that closes everything it can",
      "exec 3>&- 4>&- </dev/null; echo ready; exec >&- 2>&-; sleep 1000",
    ],
    ["children without our marker", "env -i /bin/sleep 1000 & echo ready; wait"],
  ])("%s", async (_, script) => {
    const worker = startWorker(script);
    const group = await killWhenReady(worker);
    await eventually(
      () => listCommandLines(worker.marker),
      (left) => left.length === 0,
    );
    // A process that is ending has lost its environment, by which the list finds it, before the kernel takes it out of its group.
    await eventually(
      () => isGroupAlive(group, worker.key),
      (isAlive) => !isAlive,
    );
    expect(await killGroup(group, worker.key)).toBe("gone");
  });

  test("a command that signals its own group at once", async () => {
    for (let round = 0; round < (isThorough ? 10 : 2); round += 1) {
      const worker = startWorker("trap '' TERM; kill -TERM 0; echo ready; exec sleep 1000");
      await killWhenReady(worker);
      await eventually(
        () => listCommandLines(worker.marker),
        (left) => left.length === 0,
      );
    }
  });

  test("before the claim is written, the command never starts", async () => {
    const witness = join(folder, "unclaimed");
    const worker = startWorker(`touch ${witness}`, "unclaimed");
    await eventually(
      () => worker.child.signalCode,
      (signal) => signal === "SIGKILL",
    );
    await eventually(
      () => listCommandLines(worker.marker),
      (left) => left.length === 0,
    );
    expect(() => readFileSync(witness)).toThrow(/ENOENT/);
  });

  test("at the moment of the start", async () => {
    for (let round = 0; round < (isThorough ? 10 : 2); round += 1) {
      const worker = startWorker("sleep 1000 & sleep 1000", "released");
      await eventually(
        () => worker.child.signalCode,
        (signal) => signal === "SIGKILL",
      );
      await eventually(
        () => listCommandLines(worker.marker),
        (left) => left.length === 0,
      );
    }
  });
});

describe("a process that takes over", () => {
  test("ends a group whose watcher is gone, with processes that left the group", async () => {
    const worker = startWorker(
      'setsid sleep 1000 & until [ "$(ps -o sid= $!)" -eq $! ]; do :; done; pkill -KILL -g $$ -x sh; sleep 1000 & echo ready; wait',
    );
    const group = await killWhenReady(worker);
    await eventually(
      () => worker.child.signalCode,
      (signal) => signal === "SIGKILL",
    );
    expect(listCommandLines(worker.marker).length).toBeGreaterThan(1);
    expect(await isGroupAlive(group, worker.key)).toBe(true);
    expect(await killGroup(group, worker.key)).toBe("ended");
    expect(listCommandLines(worker.marker)).toEqual([]);
    expect(await killGroup(group, worker.key)).toBe("gone");
  });

  test("ends a group whose leader is gone", async () => {
    const worker = startWorker("pkill -KILL -g $$ -x sh; sleep 1000 & echo ready; wait");
    const group = await killWhenReady(worker);
    process.kill(group.pgid, "SIGKILL");
    await eventually(
      () => listCommandLines(worker.marker),
      (left) => left.length === 1,
    );
    expect(await isGroupAlive(group, worker.key)).toBe(true);
    expect(await killGroup(group, worker.key)).toBe("ended");
    expect(listCommandLines(worker.marker)).toEqual([]);
  });

  test("does not touch a group that only has the same number", async () => {
    const worker = startWorker("echo ready; exec sleep 1000");
    await eventually(worker.output, (output) => output.includes("ready\n"));
    const group = JSON.parse(worker.output().split("\n")[0]!);
    const earlier = { pgid: group.pgid, startTime: String(Number(group.startTime) - 1) };
    expect(await isGroupAlive(earlier, "another-call")).toBe(false);
    expect(await killGroup(earlier, "another-call")).toBe("gone");
    expect(await isGroupAlive(group, worker.key)).toBe(true);
    worker.child.kill("SIGKILL");
    await eventually(
      () => listCommandLines(worker.marker),
      (left) => left.length === 0,
    );
  });

  test.each([0, 1, -5, Number.NaN, 1.5])("never signals an invalid group: %s", async (pgid) => {
    expect(() => signalGroup(pgid, 0)).toThrow(RangeError);
    expect(await killGroup({ pgid, startTime: "" }, "no-call")).toBe("gone");
  });

  test("gives up on a group that cannot be ended, and says so", async () => {
    const worker = startWorker("echo ready; exec sleep 1000");
    await eventually(worker.output, (output) => output.includes("ready\n"));
    const group = JSON.parse(worker.output().split("\n")[0]!);
    await expect(killGroup(group, worker.key, -1)).rejects.toThrow(/still alive/);
    worker.child.kill("SIGKILL");
    await eventually(
      () => listCommandLines(worker.marker),
      (left) => left.length === 0,
    );
  });
});
