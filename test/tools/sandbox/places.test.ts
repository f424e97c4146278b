import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runScript } from "../../../src/hooks/script.ts";
import { CALL_VARIABLE } from "../../../src/platform/process/process-group.ts";
import {
  type ProcessStarter,
  type StartedProcess,
  startWithoutSandbox,
} from "../../../src/platform/process/process-starter.ts";
import { createSandboxStarter } from "../../../src/platform/sandbox/sandbox-starter.ts";
import { getWorkspace, type StartAct, tryActs } from "../../../src/platform/sandbox/self-test.ts";
import {
  type ActName,
  type ForbiddenAct,
  SELF_TEST_TMPFS_BYTES,
} from "../../../src/platform/sandbox/self-test-acts.ts";
import { createScratch, type Scratch } from "../../../src/platform/sandbox/self-test-scratch.ts";
import type { SandboxEnding } from "../../../src/platform/sandbox/start-sandbox.ts";
import { createBashTool } from "../../../src/tools/builtin/bash-tool.ts";
import { createRunCommand } from "../../../src/tools/sandbox/run-command.ts";
import { ServerProcess } from "../../../src/tools/sources/mcp/stdio/server-process.ts";
import { HOST, NO_SANDBOX } from "../../platform/sandbox/host.ts";
import { describeIf } from "../../support/skipping.ts";
import { callTool, createContext, createTemporaryFolder } from "../tool-context.ts";

// Every place where foreign code runs, and the twelve forbidden acts in each. An act is a command; each place runs it in its
// own way, through the starter that it is given.

/** Runs a command in one of the places. Its result does not matter. */
type Place = (command: readonly string[], start: ProcessStarter, folder: string) => Promise<unknown>;

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
const openSandbox = (start: ProcessStarter) => async () => ({
  start,
  recorder: { getReport: () => ({ mode: "workspace" as const }) },
});

function runInShell(command: string, start: ProcessStarter, folder: string): Promise<unknown> {
  const context = createContext(folder);
  const runCommand = createRunCommand({ ...context, openSandbox: openSandbox(start) });
  return callTool(createBashTool({ timeoutMs: 8_000 }), { command }, { ...context, runCommand });
}

const PLACES: Readonly<Record<string, Place>> = {
  "the bash tool": (command, start, folder) => runInShell(command.map(quote).join(" "), start, folder),

  "a script of a skill": async (command, start, folder) => {
    const skill = await createTemporaryFolder();
    const script = join(skill, "run.sh");
    await writeFile(script, '#!/bin/sh\nexec "$@"\n');
    await chmod(script, 0o755);
    return await runInShell([script, ...command].map(quote).join(" "), start, folder);
  },

  "a command of a hook": async (command, start, folder) =>
    await runScript({
      start,
      command,
      point: "after-task",
      context: { id: "run-1/1/task", sessionId: "s1" },
      workspace: folder,
      timeoutMs: 8_000,
      signal: new AbortController().signal,
    }),

  "a stdio MCP server": async ([command = "", ...args], start, folder) => {
    const nothing = () => {};
    await new Promise<void>((resolve, reject) => {
      const events = { onLine: nothing, onStderrLine: nothing, onExit: () => resolve() };
      ServerProcess.start({ start, command, args, env: {}, cwd: folder }, events).catch(reject);
    });
  },

  "a linter of git work": async ([command = "", ...args], start, folder) => {
    const context = createContext(folder);
    const runCommand = createRunCommand({ ...context, openSandbox: openSandbox(start) });
    return await runCommand({ command, args, timeoutMs: 8_000 });
  },
};

/** Tells what the starter started, and with which ending. */
function startIn(
  place: Place,
  createStarter: (act: ForbiddenAct) => ProcessStarter,
  scratch: Scratch,
): StartAct {
  return async (command, mark, act) =>
    await new Promise((resolve, reject) => {
      const start: ProcessStarter = async ({ env, ...rest }) => {
        const started = await createStarter(act)({ ...rest, env: { ...env, [CALL_VARIABLE]: mark } });
        resolve({
          child: started.child,
          pgid: started.pgid,
          // The place itself lets the command start, and ends what is left.
          parentPipe: { write: () => true, destroy: () => {} } as never,
          ended: toSandboxEnding(started),
        });
        return started;
      };
      place(command, start, getWorkspace(scratch, act)).catch(reject);
    });
}

async function toSandboxEnding({ child, ended }: StartedProcess): Promise<SandboxEnding> {
  const ending = await ended;
  if (ending.type === "failed") {
    const [, bound] =
      /more than \d+ (?:bytes )?(?:to the |of )?(processes|threads|workspace|memory)/.exec(ending.problem) ??
      [];
    return { type: "over-bound", bound: bound as "processes", limit: 0 };
  }
  if (ending.type === "not-started") return { type: "not-started" };
  return child.exitCode === null ? { type: "killed" } : { type: "ran", exitCode: child.exitCode };
}

const holdfastHome = join(tmpdir(), `holdfast-places-${process.pid}`);

async function openScratch(): Promise<Scratch> {
  await mkdir(holdfastHome, { recursive: true });
  return await createScratch({ home: "/tmp/home", writable: [], holdfastHome });
}

describeIf(HOST.able, NO_SANDBOX)("in the sandbox, none of the twelve forbidden acts succeeds in", () => {
  test.each(Object.entries(PLACES))("%s", async (name, place) => {
    if (!HOST.able) return;
    const scratch = await openScratch();
    const { programs } = HOST;
    const readable = [scratch.tools, scratch.outside, tmpdir()];
    const createStarter = (act: ForbiddenAct) =>
      createSandboxStarter(
        {
          mode: "workspace",
          workspace: getWorkspace(scratch, act),
          isReadOnly: name === "a linter of git work",
          holdfastHome,
          readable: name === "a script of a skill" ? readable : readable.slice(0, 2),
          writable: [],
          bounds: act.bounds,
          tmpfsBytes: SELF_TEST_TMPFS_BYTES,
        },
        programs,
        { admit: async () => {}, onConnection: () => {}, onDenied: () => {} },
      );
    const { acts } = await tryActs(scratch, programs, startIn(place, createStarter, scratch));
    await rm(holdfastHome, { recursive: true, force: true });
    expect(acts.filter(({ outcome }) => outcome !== "prevented")).toEqual([]);
    expect(acts).toHaveLength(12);
  });
});

/** Acts that do no harm without a sandbox. */
const HARMLESS: readonly ActName[] = ["unix-socket", "read-environment", "follow-link"];

describe("without a sandbox, the same attempts succeed in", () => {
  test.each(Object.entries(PLACES))("%s", async (_, place) => {
    const scratch = await openScratch();
    const programs = { bwrap: "", setsid: "/usr/bin/setsid", prlimit: "" };
    const { acts } = await tryActs(
      scratch,
      programs,
      startIn(place, () => startWithoutSandbox, scratch),
      HARMLESS,
    );
    await rm(holdfastHome, { recursive: true, force: true });
    expect(acts.filter(({ outcome }) => outcome !== "succeeded")).toEqual([]);
  });
});
