import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { CALL_VARIABLE, killGroup, signalGroup } from "../process/process-group.ts";
import { findCarriers, listProcesses } from "../process/process-table.ts";
import { formatCanonicalJson } from "../text/canonical-json.ts";
import type { SandboxPrograms } from "./find-sandbox-programs.ts";
import { resolveBounds, type SandboxBounds } from "./sandbox-bounds.ts";
import {
  type ActName,
  FORBIDDEN_ACTS,
  type ForbiddenAct,
  isTried,
  type Observation,
  SELF_TEST_TMPFS_BYTES,
  type Verdict,
} from "./self-test-acts.ts";
import { READY } from "./self-test-programs.ts";
import { createScratch, type Scratch } from "./self-test-scratch.ts";
import { type SandboxedCommand, type StartedSandbox, startSandbox } from "./start-sandbox.ts";

/** What was found out about one forbidden act. */
export type ActResult = Verdict & {
  readonly name: ActName;
  readonly forbidden: string;
  readonly durationMs: number;
};

export type SelfTestResult = {
  readonly acts: readonly ActResult[];
  /** Whether each act was tried and prevented. */
  readonly ok: boolean;
};

/** A sandbox as `startSandbox` makes it, without the command. */
export type SandboxProfile = Pick<SandboxedCommand, "plan" | "programs" | "network">;

/** Starts a command that waits for the line on `parentPipe`. The mark is the value of `HOLDFAST_CALL`. */
export type StartAct = (
  command: readonly [string, ...string[]],
  mark: string,
  act: ForbiddenAct,
) => Promise<Pick<StartedSandbox, "child" | "pgid" | "parentPipe" | "ended">>;

/** An attempt that is still running is killed. On an idle host, the longest takes half a second. */
const ATTEMPT_TIMEOUT_MS = 4_000;

/** The time for processes to be gone after a kill. */
const END_TIMEOUT_MS = 1_000;

const MAX_OUTPUT_CHARS = 16_384;

/**
 * Tries each forbidden act in a sandbox of the profile. Its workspace is a temporary folder, its temporary file systems are
 * small, and each bound that an attempt exceeds is at most what the act's entry says. Never rejects.
 */
export async function runSelfTest({ plan, programs, network }: SandboxProfile): Promise<SelfTestResult> {
  let scratch: Scratch;
  try {
    scratch = await createScratch(plan);
  } catch (error) {
    return reportUntried(getMessage(error));
  }
  const { tools, outside } = scratch;
  return tryActs(scratch, programs, ([command, ...args], mark, act) =>
    startSandbox({
      plan: {
        ...plan,
        workspace: getWorkspace(scratch, act),
        cwd: getWorkspace(scratch, act),
        readable: [...plan.readable, tools, outside],
        env: { ...plan.env, [CALL_VARIABLE]: mark },
        protectedPaths: plan.protectedPaths.filter((path) =>
          plan.writable.some((folder) => path.startsWith(`${folder}/`)),
        ),
        tmpfsBytes: Math.min(plan.tmpfsBytes, SELF_TEST_TMPFS_BYTES),
        bounds: takeLower(resolveBounds(plan.bounds), act.bounds),
      },
      programs,
      command,
      args,
      stdin: "ignore",
      network: act.needsNetwork === true ? network : undefined,
    }),
  );
}

/** Returns the folder in which an act is tried. */
export function getWorkspace(
  { workspace, ownWorkspace }: Scratch,
  { hasOwnWorkspace }: ForbiddenAct,
): string {
  return hasOwnWorkspace === true ? ownWorkspace : workspace;
}

function takeLower(
  bounds: SandboxBounds,
  { processes, workspaceBytes }: Partial<SandboxBounds> = {},
): SandboxBounds {
  return {
    ...bounds,
    processes: Math.min(bounds.processes, processes ?? bounds.processes),
    workspaceBytes: Math.min(bounds.workspaceBytes, workspaceBytes ?? bounds.workspaceBytes),
  };
}

/** Tries each act with the given way to start commands, and removes the scratch folder. Never rejects. */
export async function tryActs(
  scratch: Scratch,
  programs: SandboxPrograms,
  start: StartAct,
  names: readonly ActName[] = Object.keys(FORBIDDEN_ACTS) as ActName[],
): Promise<SelfTestResult> {
  try {
    const acts = await Promise.all(
      names.map(async (name): Promise<ActResult> => {
        const startedAt = performance.now();
        const act: ForbiddenAct = FORBIDDEN_ACTS[name];
        const verdict = await tryAct(act, scratch, programs, start).catch(
          (error: unknown): Verdict => ({ outcome: "not-tried", detail: getMessage(error) }),
        );
        return { name, forbidden: act.forbidden, ...verdict, durationMs: performance.now() - startedAt };
      }),
    );
    return { acts, ok: acts.every(({ outcome }) => outcome === "prevented") };
  } finally {
    for (const file of scratch.newFiles) rmSync(file, { force: true });
    await scratch.remove().catch(() => {});
  }
}

async function tryAct(
  act: ForbiddenAct,
  scratch: Scratch,
  programs: SandboxPrograms,
  start: StartAct,
): Promise<Verdict> {
  const mark = `self-test-${randomUUID()}`;
  const { child, pgid, parentPipe, ended } = await start(act.getCommand(scratch, programs), mark, act);
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) signalGroup(pgid, "SIGKILL");
  };
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString("latin1")).slice(0, MAX_OUTPUT_CHARS);
      if (typeof act.end === "object" && countReady(output) === act.end.killAfter) kill();
    });
  }
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    kill();
  }, ATTEMPT_TIMEOUT_MS);
  try {
    const hostDelay = act.end === "by-itself" ? Promise.resolve(0) : measureHostDelay(scratch);
    parentPipe.write("go\n");
    const ending = await ended;
    clearTimeout(timer);
    // The watcher of the group also has the mark. It ends with the pipe, and kills what is left of the group.
    parentPipe.destroy();
    const alive = act.end === "by-itself" ? 0 : await waitForEnd(pgid, mark);
    await Promise.race([closed, delay(END_TIMEOUT_MS, undefined, { ref: false })]);
    const observation: Observation = { output, ending, alive, hostDelayMs: await hostDelay };
    const isEarly = typeof act.end === "object" && countReady(output) < act.end.killAfter;
    if (!isTried(observation) || isEarly || (isTimedOut && act.end === "by-itself")) {
      const facts = `${ending.type}${"exitCode" in ending ? ` ${ending.exitCode}` : ""}`;
      return {
        outcome: "not-tried",
        detail: `The attempt was not made (${facts}): ${output.trim().slice(0, 500)}`,
      };
    }
    return act.judge(observation, scratch);
  } finally {
    clearTimeout(timer);
    parentPipe.destroy();
  }
}

function countReady(output: string): number {
  return output.split(READY).length - 1;
}

/** Waits for processes with the mark to end, and counts those that remain, which are then killed. */
async function waitForEnd(pgid: number, mark: string): Promise<number> {
  const giveUpAt = performance.now() + END_TIMEOUT_MS;
  for (;;) {
    const { size } = await findCarriers(`${CALL_VARIABLE}=${mark}`, await listProcesses());
    if (size === 0) return 0;
    if (performance.now() > giveUpAt) {
      await killGroup({ pgid, startTime: "" }, mark).catch(() => {});
      return size;
    }
    await delay(20);
  }
}

/** Runs a program of the host while an attempt runs. */
async function measureHostDelay({ tools }: Scratch): Promise<number> {
  await delay(HOST_CHECK_AFTER_MS);
  const startedAt = performance.now();
  await promisify(execFile)(join(tools, "nothing"), { timeout: ATTEMPT_TIMEOUT_MS }).catch(() => {});
  return performance.now() - startedAt;
}

/** By then, a fork bomb has begun. */
const HOST_CHECK_AFTER_MS = 50;

function reportUntried(detail: string): SelfTestResult {
  const acts = Object.entries(FORBIDDEN_ACTS).map(
    ([name, { forbidden }]): ActResult => ({
      name: name as ActName,
      forbidden,
      outcome: "not-tried",
      detail,
      durationMs: 0,
    }),
  );
  return { acts, ok: false };
}

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns a text that is the same for profiles whose self-tests have the same result: it leaves out the workspace, and
 * variables of the environment.
 */
export function computeProfileKey({ plan, programs, network }: SandboxProfile): string {
  const { workspace, cwd, protectedPaths, env, ...rest } = plan;
  const profile = { ...rest, programs, rules: network?.rules ?? null };
  return createHash("sha256").update(formatCanonicalJson(profile)).digest("hex");
}
