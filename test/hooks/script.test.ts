import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runScript } from "../../src/hooks/script.ts";
import { startWithoutSandbox } from "../../src/platform/process/process-starter.ts";
import { listProcesses } from "../../src/platform/process/process-table.ts";
import { eventually } from "../tools/processes.ts";
import { BEFORE_TOOL, createWorkspace, runHookScript } from "./hook-script.ts";

describe("the answer of a script", () => {
  test("is its exit code: 0 continues, anything else is a no with the printed text [CB-08.1]", async () => {
    const workspace = await createWorkspace({
      "yes.sh": "echo fine; exit 0",
      "no.sh": "echo aside; echo 'not on a Friday' >&2; exit 3",
      "out.sh": "echo 'only to stdout'; exit 1",
      "mute.sh": "exit 9",
    });
    expect(await runHookScript(workspace, "./yes.sh")).toEqual({ type: "yes" });
    expect(await runHookScript(workspace, "./no.sh")).toEqual({ type: "no", reason: "not on a Friday" });
    expect(await runHookScript(workspace, "./out.sh")).toEqual({ type: "no", reason: "only to stdout" });
    expect(await runHookScript(workspace, "./mute.sh")).toEqual({ type: "no", reason: "Exit code 9" });
  });

  test("keeps the first 8 KiB of the printed text [CB-08.1]", async () => {
    const workspace = await createWorkspace({
      "long.py": "import sys\nsys.stderr.write('x' * 1000000)\nsys.exit(1)",
    });
    expect(await runHookScript(workspace, "./long.py")).toEqual({ type: "no", reason: "x".repeat(8192) });
  });

  test("is missing if a signal ended it [CB-08.3]", async () => {
    const workspace = await createWorkspace({ "dies.sh": "echo oh >&2; kill -SEGV $$" });
    expect(await runHookScript(workspace, "./dies.sh")).toEqual({
      type: "failed",
      fault: "killed",
      message: "Ended by SIGSEGV: oh",
    });
  });
});

describe("the context of a script", () => {
  test("is passed in its environment, and complete on its standard input [CB-08.2, X-29.1-2]", async () => {
    const workspace = await createWorkspace({
      "told.sh": 'cat > input.json; env | grep "^HOLDFAST_" > environment; pwd > folder',
    });
    expect(await runHookScript(workspace, "./told.sh")).toEqual({ type: "yes" });
    const input: unknown = JSON.parse(await readFile(join(workspace, "input.json"), "utf8"));
    expect(input).toEqual({ hook: "before-tool", ...BEFORE_TOOL });
    const environment = (await readFile(join(workspace, "environment"), "utf8")).split("\n");
    expect(environment).toEqual(
      expect.arrayContaining([
        "HOLDFAST_HOOK=before-tool",
        "HOLDFAST_SESSION=s1",
        "HOLDFAST_LOOP=s1.main.1",
        "HOLDFAST_TURN=3",
        "HOLDFAST_TOOL=bash",
        "HOLDFAST_TOOL_CALL=call-7",
      ]),
    );
    expect((await readFile(join(workspace, "folder"), "utf8")).trim()).toBe(workspace);
  });

  test("leaves out fields that the point does not have [X-29.1]", async () => {
    const workspace = await createWorkspace({ "told.sh": "env > environment" });
    const verdict = await runScript({
      start: startWithoutSandbox,
      command: "./told.sh",
      point: "after-task",
      context: { id: "run-1/1/task", sessionId: "s1" },
      workspace,
      signal: new AbortController().signal,
    });
    expect(verdict).toEqual({ type: "yes" });
    const environment = await readFile(join(workspace, "environment"), "utf8");
    expect(environment).toContain("HOLDFAST_HOOK=after-task");
    expect(environment).not.toMatch(/HOLDFAST_(LOOP|TURN|TOOL)/);
  });

  test("of a long conversation blocks nothing, whether it is read or not [X-29.2]", async () => {
    const workspace = await createWorkspace({
      "deaf.sh": "exit 0",
      "reads.py": "import json, sys\nsys.exit(0 if len(json.load(sys.stdin)['arguments']) == 5000000 else 1)",
    });
    const context = { ...BEFORE_TOOL, arguments: "x".repeat(5_000_000) };
    expect(await runHookScript(workspace, "./deaf.sh", { context })).toEqual({ type: "yes" });
    expect(await runHookScript(workspace, "./reads.py", { context })).toEqual({ type: "yes" });
  });

  test("contains no variable of the worker's environment except those that are allowed [CB-08.2]", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");
    vi.stubEnv("HOOK_MAY_SEE", "this");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const workspace = await createWorkspace({ "env.sh": "env > environment" });
    await runHookScript(workspace, "./env.sh", { allowEnvironment: ["HOOK_MAY_SEE"] });
    const environment = await readFile(join(workspace, "environment"), "utf8");
    expect(environment).toContain("HOOK_MAY_SEE=this");
    expect(environment).not.toContain("sk-secret");
  });

  test("may contain a null character, which no environment can [X-29.2]", async () => {
    const workspace = await createWorkspace({ "told.sh": 'test "$HOLDFAST_TOOL" = ab' });
    const context = { ...BEFORE_TOOL, toolName: "a\0b" };
    expect(await runHookScript(workspace, "./told.sh", { context })).toEqual({ type: "yes" });
  });
});

describe("the interpreter of a script", () => {
  test.each([
    ["a.sh", "exit 4"],
    ["a.py", "import sys; sys.exit(4)"],
    ["a.js", "process.exit(4)"],
    ["a.mjs", "import process from 'node:process'; process.exit(4)"],
    ["a.cjs", "require('node:process').exit(4)"],
  ])("is selected by the extension of %s if the script is not executable [PHI-11.1]", async (name, text) => {
    const workspace = await createWorkspace({ [name]: text });
    expect(await runHookScript(workspace, `./${name}`)).toEqual({ type: "no", reason: "Exit code 4" });
  });

  test("is named by the script itself if it is executable, whatever its extension [PHI-11.2]", async () => {
    const script = "#!/bin/sh\nexit 5";
    const workspace = await createWorkspace({ "a.py": script, plain: script, "a.ts": script }, 0o755);
    for (const name of ["./a.py", "./plain", "./a.ts"]) {
      expect(await runHookScript(workspace, name)).toEqual({ type: "no", reason: "Exit code 5" });
    }
  });

  test("is selected by extension if an executable script names none [PHI-11.1]", async () => {
    const workspace = await createWorkspace({ "a.py": "import sys; sys.exit(6)" }, 0o755);
    expect(await runHookScript(workspace, "./a.py")).toEqual({ type: "no", reason: "Exit code 6" });
  });

  test("is the program that the command names, with its arguments [CB-08.1]", async () => {
    const workspace = await createWorkspace({
      "my hook.py": "import sys; print(sys.argv[1:]); sys.exit(1)",
    });
    expect(await runHookScript(workspace, `python3 'my hook.py' "a b" --c`)).toEqual({
      type: "no",
      reason: "['a b', '--c']",
    });
    expect(await runHookScript(workspace, ["python3", "my hook.py", "$HOME;"])).toEqual({
      type: "no",
      reason: "['$HOME;']",
    });
  });

  test("does not exist for TypeScript, and the error explains the remedy [PHI-11.1]", async () => {
    const workspace = await createWorkspace({ "a.ts": "process.exit(0)", "b.mts": "" });
    for (const name of ["./a.ts", "./b.mts"]) {
      expect(await runHookScript(workspace, name)).toMatchObject({
        type: "failed",
        fault: "not-runnable",
        message: expect.stringContaining("compile it to JavaScript"),
      });
    }
  });
});

describe("a script that cannot be run is a failure, not an answer", () => {
  test.each([
    ["./none.sh", "not-found", "There is no file"],
    ["no-such-program-4711", "not-found", "is ./no-such-program-4711"],
    ["./notes.txt", "not-runnable", "is not executable"],
    ["./folder/", "not-found", "There is no file"],
    ["", "not-runnable", "empty"],
    ["   ", "not-runnable", "empty"],
    ["./a.sh && ./b.sh", "not-runnable", '"&"'],
    ["./a.sh > log", "not-runnable", '">"'],
    ["$HOME/a.sh", "not-runnable", '"$"'],
    ["./a.sh 'b", "not-runnable", "not closed"],
  ])("%s: %s [CB-08.3]", async (command, fault, message) => {
    const workspace = await createWorkspace({ "notes.txt": "exit 0", "a.sh": "exit 0", "b.sh": "exit 1" });
    expect(await runHookScript(workspace, command)).toMatchObject({
      type: "failed",
      fault,
      message: expect.stringContaining(message),
    });
  });

  test("a missing workspace is named [CB-08.3]", async () => {
    expect(await runHookScript("/no/such/folder", "true")).toEqual({
      type: "failed",
      fault: "not-found",
      message: "The workspace /no/such/folder is not a folder",
    });
  });

  test("a context that is not valid JSON is a failure [CB-08.3]", async () => {
    const workspace = await createWorkspace({});
    const context = { ...BEFORE_TOOL, arguments: 1n };
    expect(await runHookScript(workspace, "true", { context })).toMatchObject({
      type: "failed",
      fault: "threw",
    });
  });
});

describe("a script that hangs", () => {
  // The child makes its parent ignore SIGTERM, so that only killing the group ends it.
  const HANGS = "trap '' TERM; (trap '' TERM; echo $$ >> pids; exec sleep 600) & echo $! >> pids; wait";

  async function pidsOf(workspace: string): Promise<number[]> {
    const text = await readFile(join(workspace, "pids"), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean).map(Number);
  }

  /** The ones that are running: a dead one stays in the table until its parent has read its exit code. */
  async function running(pids: readonly number[]): Promise<number[]> {
    const table = await listProcesses();
    return pids.filter((pid) => table.some((entry) => entry.pid === pid));
  }

  test("is ended with its children after its time limit [CB-08.3]", async () => {
    const workspace = await createWorkspace({ "hangs.sh": HANGS });
    const begunAt = performance.now();
    const verdict = await runHookScript(workspace, "./hangs.sh", { timeoutMs: 1_500, graceMs: 50 });
    // The specified limit, not the default of 10 s.
    expect(performance.now() - begunAt).toBeLessThan(8_000);
    expect(verdict).toEqual({ type: "failed", fault: "timed-out", message: "No answer within 1.5 s" });
    const pids = await pidsOf(workspace);
    expect(pids).toHaveLength(2);
    expect(await running(pids)).toEqual([]);
  });

  test("is ended with its children when it is cancelled [CB-08.3]", async () => {
    const workspace = await createWorkspace({ "hangs.sh": HANGS });
    const cancel = new AbortController();
    const verdict = runHookScript(workspace, "./hangs.sh", { signal: cancel.signal, graceMs: 50 });
    const pids = await eventually(
      () => pidsOf(workspace),
      (seen) => seen.length === 2,
    );
    expect(await running(pids)).toHaveLength(2);
    cancel.abort();
    expect(await verdict).toEqual({ type: "failed", fault: "cancelled", message: "Cancelled" });
    expect(await running(pids)).toEqual([]);
  });

  test("that leaves a child running after its yes is ended with that child [CB-08.3]", async () => {
    const workspace = await createWorkspace({ "leaves.sh": "sleep 600 & echo $! > pids; exit 0" });
    expect(await runHookScript(workspace, "./leaves.sh")).toEqual({ type: "yes" });
    const pids = await pidsOf(workspace);
    expect(pids).toHaveLength(1);
    expect(await running(pids)).toEqual([]);
  });

  test("is not started if the run is already cancelled [CB-08.3]", async () => {
    const workspace = await createWorkspace({ "ran.sh": "touch ran" });
    await writeFile(join(workspace, "ran"), "no");
    const verdict = await runHookScript(workspace, "rm ran", { signal: AbortSignal.abort() });
    expect(verdict).toMatchObject({ type: "failed", fault: "cancelled" });
    expect(await readFile(join(workspace, "ran"), "utf8")).toBe("no");
  });
});
