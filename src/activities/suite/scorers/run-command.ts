import { randomUUID } from "node:crypto";
import { CancelledFailure } from "@temporalio/activity";
import { buildCleanEnvironment, DEFAULT_PATH } from "../../../platform/process/clean-environment.ts";
import { findProgram } from "../../../platform/process/find-program.ts";
import { killGroup, type SpawnedGroup } from "../../../platform/process/process-group.ts";
import type { ProcessEnding, ProcessStarter } from "../../../platform/process/process-starter.ts";
import { runSupervised, StartError } from "../../../platform/process/run-supervised.ts";
import type { SandboxSettings } from "../../../schema/sandbox.ts";
import type { ScorerOf } from "../../../schema/scorer.ts";
import type { ScorerContext } from "./scorer-context.ts";

/** How a command has ended, with the end of what it printed. */
export type CommandOutcome = { readonly output: string } & (
  | { readonly type: "exited"; readonly exitCode: number }
  /** `reason` is a sentence. */
  | { readonly type: "killed"; readonly reason: string }
);

/** The end of the output that is kept: more than an explanation needs, so that a secret in it is whole. */
const KEPT_BYTES = 16 * 1024;

const MIB = 1024 * 1024;

/**
 * Runs the command, whose standard error goes where its output goes, so that their order is that of the command.
 *
 * $0: the shell. $1: the command. $2: the most memory in KiB, or nothing.
 */
const WRAPPER = 'exec 2>&1; if [ -n "$2" ]; then ulimit -v "$2" || exit 125; fi; exec "$0" -c "$1"';

/**
 * Runs a scorer's command where a shell command of the cell's agent runs: in the sandbox of its definition, or else of the
 * worker. No process of it is alive afterwards. Throws if the command cannot be started.
 */
export async function runScorerCommand(
  { command, timeoutMs, memoryMb }: ScorerOf<"command">,
  workspace: string,
  { cell, dependencies: { sandboxes }, signal }: ScorerContext,
): Promise<CommandOutcome> {
  const settings = limitMemory(sandboxes.getSettings(cell.sandbox), memoryMb);
  const isFree = settings.mode === "off";
  if (isFree && memoryMb !== undefined && process.platform !== "linux") {
    throw new Error("On this system, the memory of a command can only be limited in a sandbox.");
  }
  const { start } = await sandboxes.open({ settings, workspace });
  let ending: ProcessEnding | undefined;
  const observe: ProcessStarter = async (one) => {
    const started = await start(one);
    const ended = started.ended.then((how) => {
      ending = how;
      return how;
    });
    return { ...started, ended };
  };
  const call = `scorer-${randomUUID()}`;
  const env = buildCleanEnvironment(call);
  const shell = (await findProgram("bash", env["PATH"] ?? DEFAULT_PATH)) ?? "/bin/sh";
  const tail = new OutputTail(KEPT_BYTES);
  let group: SpawnedGroup | undefined;
  try {
    const result = await runSupervised({
      start: observe,
      command: shell,
      args: ["-c", WRAPPER, shell, command, isFree && memoryMb !== undefined ? String(memoryMb * 1024) : ""],
      cwd: workspace,
      env,
      signal,
      timeoutMs,
      maxOutputBytes: KEPT_BYTES,
      onSpawned: async (spawned) => {
        group = spawned;
      },
      onStdoutChunk: (chunk) => tail.push(chunk),
    });
    const output = tail.text + result.stderr;
    if (result.ending === "cancelled") throw new CancelledFailure("CANCELLED");
    if (result.ending === "timed-out") {
      return { type: "killed", reason: `Ended after ${timeoutMs / 1000} s.`, output };
    }
    if (result.exitCode === null) return { type: "killed", reason: `Ended by ${result.signal}.`, output };
    return { type: "exited", exitCode: result.exitCode, output };
  } catch (error) {
    // The command has passed a bound of its sandbox, which is a result like any other.
    if (error instanceof StartError && ending?.type === "failed") {
      return { type: "killed", reason: `${ending.problem}.`, output: tail.text };
    }
    throw error;
  } finally {
    // Without a sandbox, a process that has left the group is still alive.
    if (isFree && group !== undefined) await killGroup(group, call);
  }
}

/** A sandbox bounds the memory of all processes together; without one, the wrapper bounds that of each. */
function limitMemory(settings: SandboxSettings, memoryMb: number | undefined): SandboxSettings {
  if (settings.mode === "off" || memoryMb === undefined) return settings;
  const memoryBytes = Math.min(memoryMb * MIB, settings.bounds?.memoryBytes ?? Number.POSITIVE_INFINITY);
  return { ...settings, bounds: { ...settings.bounds, memoryBytes } };
}

/** Keeps the last bytes of a stream. */
class OutputTail {
  readonly #maxBytes: number;
  #kept = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk.subarray(-this.#maxBytes)]);
    this.#kept = Buffer.from(all.subarray(-this.#maxBytes));
  }

  get text(): string {
    return this.#kept.toString("utf8");
  }
}
