import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startWithoutSandbox } from "../../src/platform/process/process-starter.ts";
import { runSupervised, type SupervisedCommand } from "../../src/platform/process/run-supervised.ts";
import { eventually, killMarked, listCommandLines } from "./processes.ts";
import { createTemporaryFolder } from "./tool-context.ts";

const { PATH = "" } = process.env;
let calls = 0;

function command(
  script: string,
  overrides: Partial<SupervisedCommand> = {},
): SupervisedCommand & { marker: string } {
  calls += 1;
  const key = `supervise-${process.pid}-${calls}`;
  onTestFinished(() => killMarked(`HOLDFAST_CALL=${key}`));
  return {
    start: startWithoutSandbox,
    command: "bash",
    args: ["-c", script],
    cwd: "/",
    env: { PATH, HOLDFAST_CALL: key },
    signal: new AbortController().signal,
    timeoutMs: 30_000,
    maxOutputBytes: 1024,
    onSpawned: async () => {},
    marker: `HOLDFAST_CALL=${key}`,
    ...overrides,
  };
}

describe("the result of a command", () => {
  test("is its exit code, signal and streams", async () => {
    expect(await runSupervised(command("echo out; echo err >&2; exit 7"))).toEqual({
      ending: "exited",
      exitCode: 7,
      signal: null,
      stdout: "out\n",
      stderr: "err\n",
      stdoutTruncated: false,
      stderrTruncated: false,
    });
    expect(await runSupervised(command("kill -SEGV $$"))).toMatchObject({
      exitCode: null,
      signal: "SIGSEGV",
    });
  });

  test("arguments arrive unchanged", async () => {
    const args = ["-c", 'printf "%s|" "$@"', "bash", "a b", "$(exit 3)", "'\"\\", "", "ü\n"];
    expect(await runSupervised(command("", { args }))).toMatchObject({ stdout: "a b|$(exit 3)|'\"\\||ü\n|" });
  });

  test("it has none of our descriptors, no input and no terminal", async () => {
    const { stdout } = await runSupervised(
      command("test -e /proc/self/fd/3 && echo three; cat; (: </dev/tty) 2>/dev/null && echo tty; echo done"),
    );
    expect(stdout).toBe("done\n");
  });

  test("a program that waits for all its children does not wait for the watcher", async () => {
    const script = "import os\ntry:\n  while True: os.wait()\nexcept ChildProcessError: print('alone')";
    const result = await runSupervised(command("", { command: "python3", args: ["-c", script] }));
    expect(result).toMatchObject({ ending: "exited", stdout: "alone\n" });
  });

  test("a command does not find itself in the process table by the arguments of another process", async () => {
    const { stdout } = await runSupervised(command("exec pgrep -f surely-unique-word-4711"));
    expect(stdout).toBe("");
  });

  test("a missing program gives the shell's exit code", async () => {
    const result = await runSupervised(command("", { command: "/no/such/program", args: [] }));
    expect(result).toMatchObject({ ending: "exited", exitCode: 127 });
  });

  test("a command does not start in a missing folder", async () => {
    await expect(runSupervised(command("true", { cwd: "/no/such/folder" }))).rejects.toThrow(/ENOENT/);
  });

  test("a command with a NUL character in an argument does not start", async () => {
    await expect(runSupervised(command("echo \0"))).rejects.toThrow(/null bytes/);
  });
});

describe("output", () => {
  test("a flood is bounded in memory and does not block the command", async () => {
    const before = process.memoryUsage().rss;
    let peak = 0;
    const result = await runSupervised(
      command(
        "head -c 100000000 /dev/zero | tr '\\0' x; head -c 100000000 /dev/zero | tr '\\0' y >&2; echo end >&2",
        {
          maxOutputBytes: 256 * 1024,
          onOutput: () => {
            peak = Math.max(peak, process.memoryUsage().rss);
          },
        },
      ),
    );
    expect(result.exitCode).toBe(0);
    expect([result.stdout.length, result.stderr.length]).toEqual([262_144, 262_144]);
    expect([result.stdoutTruncated, result.stderrTruncated]).toEqual([true, true]);
    expect(Math.max(peak, process.memoryUsage().rss) - before).toBeLessThan(150_000_000);
  });

  test("arrives while the command runs, and adds up to the result", async () => {
    const folder = await createTemporaryFolder();
    const seen: string[] = [];
    const running = runSupervised(
      command(`echo first; until test -e ${folder}/go; do sleep 0.01; done; echo second`, {
        onOutput: (stream, text) => seen.push(`${stream}:${text}`),
      }),
    );
    await eventually(
      () => seen.join(""),
      (text) => text === "stdout:first\n",
    );
    await runSupervised(command(`touch ${folder}/go`));
    expect((await running).stdout).toBe("first\nsecond\n");
    expect(seen).toEqual(["stdout:first\n", "stdout:second\n"]);
  });

  test("a character that arrives in two chunks is one character", async () => {
    const folder = await createTemporaryFolder();
    const seen: string[] = [];
    const running = runSupervised(
      command(
        `printf '\\xe2\\x82'; touch ${folder}/half; until test -e ${folder}/go; do sleep 0.01; done; printf '\\xac'`,
        {
          onOutput: (_stream, text) => seen.push(text),
        },
      ),
    );
    await eventually(
      () =>
        readFile(join(folder, "half")).then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    await runSupervised(command(`touch ${folder}/go`));
    expect((await running).stdout).toBe("€");
    expect(seen).toEqual(["€"]);
  });

  test("bytes that are not UTF-8 are replaced, including an unfinished character at the end", async () => {
    const { stdout } = await runSupervised(command("printf 'a\\xff\\xfeb\\xe2\\x82'"));
    expect(stdout).toBe("a\uFFFD\uFFFDb\uFFFD");
  });

  test("the limit counts bytes and cuts between characters", async () => {
    const { stdout, stdoutTruncated } = await runSupervised(command("printf 'aä€€€'", { maxOutputBytes: 8 }));
    expect([stdout, stdoutTruncated]).toEqual(["aä€", true]);
    const exact = await runSupervised(command("printf 'aä€'", { maxOutputBytes: 6 }));
    expect([exact.stdout, exact.stdoutTruncated]).toEqual(["aä€", false]);
  });

  test("the remaining output of a process substitution is included", async () => {
    const { stdout } = await runSupervised(
      command('exec > >(while read -r line; do echo "<$line>"; done); echo a; echo b'),
    );
    expect(stdout).toBe("<a>\n<b>\n");
  });

  test("a listener that throws ends the command, and the caller receives the error", async () => {
    const failing = command("echo a; sleep 100", {
      onOutput: () => {
        throw new Error("no disk");
      },
    });
    await expect(runSupervised(failing)).rejects.toThrow("no disk");
    expect(listCommandLines(failing.marker)).toEqual([]);
  });
});

test("the caller also receives the error of a listener that throws at the last character", async () => {
  const failing = command("printf '\\xe2'", {
    onOutput: () => {
      throw new Error("no disk");
    },
  });
  await expect(runSupervised(failing)).rejects.toThrow("no disk");
});

describe("the end of a command ends its process group", () => {
  test.each([
    ["a child in the background that holds the output", "sleep 1000 & echo done"],
    ["a child that holds no output", "sleep 1000 >/dev/null 2>&1 & echo done"],
    ["grandchildren", "bash -c 'bash -c \"sleep 1000 & wait\" & wait' & echo done"],
    ["children that ignore every signal", "(trap '' TERM HUP INT; while :; do sleep 1; done) & echo done"],
    [
      "a tree that forks",
      "f() { [ $1 = 0 ] || { f $(($1-1)) & f $(($1-1)) & }; sleep 1000; }; f 4 & echo done",
    ],
    ["a stopped child", "sleep 1000 & kill -STOP $!; echo done"],
  ])("%s", async (_, script) => {
    const running = command(script);
    const result = await runSupervised(running);
    expect(result).toMatchObject({ ending: "exited", exitCode: 0, stdout: "done\n" });
    expect(listCommandLines(running.marker)).toEqual([]);
  });

  test("a daemon in its own session that keeps the output open does not hang the call", async () => {
    const running = command(
      'setsid sleep 1000 & until [ "$(ps -o sid= $!)" -eq $! ]; do :; done; echo done; echo $! >&2',
    );
    const { stdout, stderr } = await runSupervised(running);
    expect([stdout, stderr]).toEqual(["done\n", expect.stringMatching(/^[1-9]\d*\n$/)]);
    process.kill(Number(stderr), "SIGKILL");
  });
});

describe("a command that is stopped", () => {
  test("gets SIGTERM and time to clean up", async () => {
    const controller = new AbortController();
    const running = command("trap 'echo cleaned; exit 3' TERM; echo ready; while :; do sleep 0.01; done", {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    expect(await runSupervised(running)).toMatchObject({
      ending: "cancelled",
      exitCode: 3,
      stdout: "ready\ncleaned\n",
    });
    expect(listCommandLines(running.marker)).toEqual([]);
  });

  test("is killed with all its processes after the grace period if it ignores SIGTERM", async () => {
    const controller = new AbortController();
    const running = command(
      "trap '' TERM; (trap '' TERM; sleep 1000) & echo ready; while :; do sleep 1; done",
      {
        signal: controller.signal,
        graceMs: 50,
        onOutput: () => controller.abort(),
      },
    );
    expect(await runSupervised(running)).toMatchObject({
      ending: "cancelled",
      exitCode: null,
      signal: "SIGKILL",
    });
    expect(listCommandLines(running.marker)).toEqual([]);
  });

  test("ends together with processes that left its group", async () => {
    const controller = new AbortController();
    const running = command(
      'setsid sleep 1000 & until [ "$(ps -o sid= $!)" -eq $! ]; do :; done; echo ready; wait',
      {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      },
    );
    expect(await runSupervised(running)).toMatchObject({ ending: "cancelled" });
    expect(listCommandLines(running.marker)).toEqual([]);
  });

  test("reports that its time limit has passed", async () => {
    // Until the watcher of a command has started, SIGTERM is ignored: on a busy machine for longer than a few milliseconds.
    const running = command("echo before; sleep 1000", { timeoutMs: 1_000 });
    expect(await runSupervised(running)).toMatchObject({ ending: "timed-out", signal: "SIGTERM" });
    expect(listCommandLines(running.marker)).toEqual([]);
  });

  test("is not started if it is cancelled at the moment of the start", async () => {
    const folder = await createTemporaryFolder();
    const controller = new AbortController();
    const running = runSupervised(command(`touch ${folder}/ran`, { signal: controller.signal }));
    controller.abort();
    expect(await running).toMatchObject({ ending: "cancelled" });
    await expect(readFile(join(folder, "ran"))).rejects.toThrow(/ENOENT/);
  });

  test("is not started at all if it was cancelled before", async () => {
    const folder = await createTemporaryFolder();
    let spawned = false;
    const result = await runSupervised(
      command(`touch ${folder}/ran`, {
        signal: AbortSignal.abort(),
        onSpawned: async () => {
          spawned = true;
        },
      }),
    );
    expect(result.ending).toBe("cancelled");
    expect(spawned).toBe(false);
  });
});

describe("the claim", () => {
  test("is written before the command starts", async () => {
    const folder = await createTemporaryFolder();
    const script = `touch ${folder}/ran`;
    const running = command(script, {
      onSpawned: async (group) => {
        expect(group.pgid).toBeGreaterThan(1);
        expect(group.startTime).toMatch(/^\d+$/);
        // A command that did not wait would have finished before these.
        for (let round = 0; round < 5; round += 1) await runSupervised(command("true"));
        await expect(readFile(join(folder, "ran"))).rejects.toThrow(/ENOENT/);
      },
    });
    expect(await runSupervised(running)).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(folder, "ran"), "utf8")).toBe("");
  });

  test("prevents the start of the command if it cannot be written", async () => {
    const folder = await createTemporaryFolder();
    const running = command(`touch ${folder}/ran`, {
      onSpawned: () => Promise.reject(new Error("disk full")),
    });
    await expect(runSupervised(running)).rejects.toThrow("disk full");
    await expect(readFile(join(folder, "ran"))).rejects.toThrow(/ENOENT/);
    expect(listCommandLines(running.marker)).toEqual([]);
  });

  test("prevents the start of the command if the call is cancelled while it is written", async () => {
    const folder = await createTemporaryFolder();
    const controller = new AbortController();
    const running = command(`touch ${folder}/ran`, {
      signal: controller.signal,
      onSpawned: async () => controller.abort(),
    });
    expect(await runSupervised(running)).toMatchObject({ ending: "cancelled" });
    await expect(readFile(join(folder, "ran"))).rejects.toThrow(/ENOENT/);
  });
});
