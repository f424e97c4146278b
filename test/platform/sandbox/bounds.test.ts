import { execFileSync } from "node:child_process";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildBwrapArguments } from "../../../src/platform/sandbox/build-bwrap-arguments.ts";
import {
  buildLimitArguments,
  DEFAULT_BOUNDS,
  readHardLimits,
  resolveBounds,
  type SandboxBounds,
} from "../../../src/platform/sandbox/sandbox-bounds.ts";
import type { SandboxPlan } from "../../../src/platform/sandbox/sandbox-plan.ts";
import { describeIf, testIf } from "../../support/skipping.ts";
import { eventually } from "../../tools/processes.ts";
import { HOST, NO_SANDBOX } from "./host.ts";
import { createWorkspace, findNamespace, listMembers, runScript, startScript } from "./run-sandbox.ts";

const MIB = 1024 ** 2;

describe("the limits of the kernel", () => {
  test("are hard", () => {
    expect(buildLimitArguments(DEFAULT_BOUNDS, {})).toEqual([
      "--core=0:0",
      "--fsize=8589934592:8589934592",
      "--nofile=4096:4096",
      "--nproc=4096:4096",
    ]);
  });

  test("never exceed what the worker itself may have", () => {
    const limits = buildLimitArguments(DEFAULT_BOUNDS, { openFiles: 1024, threads: 100_000 });
    expect(limits).toEqual(expect.arrayContaining(["--nofile=1024:1024", "--nproc=4096:4096"]));
  });

  testIf(process.platform === "linux", "only Linux lists them")("of this process are numbers", () => {
    for (const limit of Object.values(readHardLimits())) expect(limit).toBeGreaterThan(0);
  });
});

describe("bounds", () => {
  test("that are absent have their default", () => {
    expect(resolveBounds({ processes: 64, threads: undefined as unknown as number })).toEqual({
      ...DEFAULT_BOUNDS,
      processes: 64,
    });
  });

  test.each<Partial<SandboxBounds>>([
    { processes: 0 },
    { threads: 1.5 },
    { fileBytes: -1 },
    { openFiles: Number.NaN },
    { memoryBytes: 0 },
    { workspaceBytes: Number.POSITIVE_INFINITY },
  ])("that mean nothing are refused: %o", (bounds) => {
    const plan: SandboxPlan = {
      ...{ mode: "strict", workspace: "/w", isReadOnly: false, cwd: "/w", home: "/h", holdfastHome: "/f" },
      ...{ readable: [], writable: [], env: {}, protectedPaths: [], hiddenPaths: [], tmpfsBytes: MIB },
      descriptors: { seccomp: 5, status: 6 },
      bounds,
    };
    expect(() => buildBwrapArguments(plan)).toThrow(Object.keys(bounds)[0]);
  });
});

describeIf(HOST.able, NO_SANDBOX)("a command", () => {
  test("has the limits, and cannot raise them", async () => {
    const { output } = await runScript(
      "ulimit -c; ulimit -n; ulimit -u; ulimit -f; ulimit -n 5000 2>/dev/null || echo refused",
      await createWorkspace(),
      { bounds: { threads: 200, openFiles: 100, fileBytes: MIB } },
    );
    expect(output.split("\n").slice(0, 5)).toEqual(["0", "100", "200", "1024", "refused"]);
  });

  test("that writes a file past the bound of files receives a signal", async () => {
    const { ending } = await runScript("exec head -c 3000000 /dev/zero > file", await createWorkspace(), {
      bounds: { fileBytes: MIB },
    });
    // 128 and SIGXFSZ.
    expect(ending).toEqual({ type: "ran", exitCode: 153 });
  });

  test.each([
    ["a file", "head -c 30000000 /dev/zero > file; sleep 20"],
    ["many files", 'for i in $(seq 30); do head -c 1000000 /dev/zero > "$i"; done; sleep 20'],
    ["a deleted file", "exec 5> file; rm file; head -c 30000000 /dev/zero >&5; sleep 20"],
    ["an older file", "head -c 30000000 /dev/zero >> old; sleep 20"],
  ])("that fills the workspace with %s is killed", async (_, script) => {
    const workspace = await createWorkspace();
    writeFileSync(join(workspace.folder, "old"), "old");
    const { ending } = await runScript(script, workspace, { bounds: { workspaceBytes: 8 * MIB } });
    expect(ending).toEqual({ type: "over-bound", bound: "workspace", limit: 8 * MIB });
  });

  test("that fills a workspace of many files is killed, also while others free space", async () => {
    const workspace = await createWorkspace();
    const other = join(workspace.holdfastHome, "other");
    execFileSync("fallocate", ["--length", "100M", other]);
    execFileSync("sh", ["-c", "for i in $(seq 3000); do : > $i; done"], { cwd: workspace.folder });
    const sandbox = await startScript(
      "head -c 30000000 /dev/zero > file; sleep 0.6; head -c 30000000 /dev/zero > more; sleep 20",
      workspace,
      {
        bounds: { workspaceBytes: 8 * MIB },
      },
    );
    sandbox.parentPipe.write("go\n");
    rmSync(other);
    expect(await sandbox.ended).toMatchObject({ type: "over-bound", bound: "workspace" });
  });

  test("may change a large older file", async () => {
    const workspace = await createWorkspace();
    const large = join(workspace.folder, "large");
    execFileSync("fallocate", ["--length", "800M", large]);
    // A sandbox starts so quickly that the file could count as new: the clock of files is 10 milliseconds late at most.
    await eventually(
      () => Date.now() - statSync(large).birthtimeMs,
      (ageMs) => ageMs > 20,
    );
    const { ending } = await runScript("echo more >> large; sleep 1.5", workspace, {
      bounds: { workspaceBytes: 400 * MIB },
    });
    expect(ending).toEqual({ type: "ran", exitCode: 0 });
  });

  test("may write again and again what it deletes", async () => {
    const { ending } = await runScript(
      "for i in 1 2 3 4 5; do head -c 3000000 /dev/zero > file; sleep 0.3; rm file; done",
      await createWorkspace(),
      { bounds: { workspaceBytes: 8 * MIB } },
    );
    expect(ending).toEqual({ type: "ran", exitCode: 0 });
  });

  test("that uses too much memory is killed", async () => {
    const { ending } = await runScript(
      "exec 2>/dev/null; text=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 20",
      await createWorkspace(),
      { bounds: { memoryBytes: 40 * MIB } },
    );
    expect(ending).toEqual({ type: "over-bound", bound: "memory", limit: 40 * MIB });
  });

  test("that starts many threads is killed, or cannot start them", async () => {
    const script = `${process.execPath} -e '
      const { Worker } = require("node:worker_threads");
      for (let index = 0; index < 40; index += 1) new Worker("setInterval(() => {}, 1000)", { eval: true }).on("error", () => {});
      setTimeout(() => {}, 20000);'`;
    const { ending } = await runScript(script, await createWorkspace(), {
      bounds: { threads: 30 },
      readable: [process.execPath],
    });
    expect(ending).not.toEqual({ type: "ran", exitCode: 0 });
  });
});

const isLimited = HOST.able && (HOST.controllers.includes("pids") || process.getuid?.() !== 0);

describeIf(isLimited, "the kernel does not limit the number of processes of this user")("a fork bomb", () => {
  test.each([
    ["of a shell", "bomb() { bomb | bomb & }; bomb; sleep 10"],
    [
      "whose processes leave",
      "echo 'setsid sh ./bomb & setsid sh ./bomb & exec sleep 5' > bomb; sh ./bomb; sleep 10",
    ],
  ])("%s is ended, and nothing of it is left", async (_, script) => {
    const sandbox = await startScript(`sleep 0.2; ${script}`, await createWorkspace(), {
      bounds: { processes: 150, threads: 200 },
    });
    sandbox.parentPipe.write("go\n");
    const namespace = await eventually(
      () => {
        try {
          return findNamespace(sandbox.call);
        } catch {
          return "";
        }
      },
      (found) => found !== "",
    );
    const ending = await sandbox.ended;
    expect(ending).toMatchObject({ type: "over-bound", limit: expect.any(Number) });
    expect(["processes", "threads"]).toContain(ending.type === "over-bound" && ending.bound);
    const endedAt = performance.now();
    await eventually(
      () => listMembers(namespace),
      (left) => left.length === 0,
    );
    expect(performance.now() - endedAt).toBeLessThan(1000);
  });
});
