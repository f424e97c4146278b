import { randomUUID } from "node:crypto";
import { type FileHandle, open, stat, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildCleanEnvironment, DEFAULT_PATH } from "../platform/process/clean-environment.ts";
import type { ProcessStarter } from "../platform/process/process-starter.ts";
import { runSupervised, type SupervisedResult } from "../platform/process/run-supervised.ts";
import type { HookPoint } from "../schema/hooks.ts";
import type { HookContexts } from "./hook-point.ts";
import { findRunnable } from "./runnable.ts";
import { splitCommand } from "./split-command.ts";
import { buildTimeoutFailure, DEFAULT_HOOK_TIMEOUT_MS } from "./time-limit.ts";
import { buildFailure, getErrorMessage, type HookVerdict } from "./verdict.ts";

// A command as a hook (CB-08, PHI-11, X-29). Its environment has a short form of its context, and its standard input
// the whole context as one JSON object. Its exit code is its answer: 0 is yes, anything else is no. It runs in the
// workspace under the supervisor of the tools, so that its process group ends with it, at its time limit, when it is
// cancelled, and when this process dies.

/** The limit for each of stdout and stderr: enough for a reason, not for a log. */
const MAX_OUTPUT_BYTES = 8 * 1024;

export type Script<P extends HookPoint = HookPoint> = {
  /** Decides whether the command runs in a sandbox. */
  readonly start: ProcessStarter;
  /** One line, or a list of words. No shell interprets it. */
  readonly command: string | readonly string[];
  readonly point: P;
  readonly context: HookContexts[P];
  /** Absolute. */
  readonly workspace: string;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  /** The time from SIGTERM to SIGKILL. */
  readonly graceMs?: number | undefined;
  /** Names of the worker's variables that the script may see besides PATH, HOME and the like. */
  readonly allowEnvironment?: readonly string[] | undefined;
  /** Masks its output, because a script may read more than its own environment. */
  readonly mask?: ((text: string) => string) | undefined;
};

/** Runs a script. Never rejects. The reason of a "no" is what the script printed to stderr, or else to stdout. */
export async function runScript<P extends HookPoint>(script: Script<P>): Promise<HookVerdict> {
  try {
    const words = splitScriptCommand(script.command);
    if (words.type === "invalid") return buildFailure("not-runnable", words.message);
    const folder = await stat(script.workspace).catch(() => undefined);
    if (folder?.isDirectory() !== true) {
      return buildFailure("not-found", `The workspace ${script.workspace} is not a folder`);
    }
    const env = {
      ...buildCleanEnvironment(randomUUID(), script.allowEnvironment),
      ...buildEnvironment(script.point, script.context),
    };
    const runnable = await findRunnable(words.words, script.workspace, env["PATH"] ?? DEFAULT_PATH);
    if (runnable.type === "failed") return runnable;
    const timeoutMs = script.timeoutMs ?? DEFAULT_HOOK_TIMEOUT_MS;
    const input = await createUnlinkedFile(JSON.stringify({ hook: script.point, ...script.context }));
    try {
      const result = await runSupervised({
        start: script.start,
        command: runnable.program,
        args: runnable.args,
        cwd: script.workspace,
        env,
        stdin: input.fd,
        signal: script.signal,
        timeoutMs,
        graceMs: script.graceMs,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        onSpawned: async () => {},
      });
      return toVerdict(result, timeoutMs, script.mask);
    } finally {
      await input.close();
    }
  } catch (error) {
    return buildFailure("threw", getErrorMessage(error));
  }
}

function splitScriptCommand(command: string | readonly string[]): ReturnType<typeof splitCommand> {
  if (typeof command === "string") return splitCommand(command);
  if (command.length === 0) return { type: "invalid", message: "The command is empty" };
  return { type: "words", words: command };
}

function toVerdict(
  result: SupervisedResult,
  timeoutMs: number,
  mask: (text: string) => string = (text) => text,
): HookVerdict {
  const printed = mask(result.stderr.trim() || result.stdout.trim());
  switch (result.ending) {
    case "cancelled":
      return buildFailure("cancelled", "Cancelled");
    case "timed-out":
      return buildTimeoutFailure(timeoutMs);
    case "exited":
      if (result.exitCode === 0) return { type: "yes" };
      if (result.exitCode !== null) return { type: "no", reason: printed || `Exit code ${result.exitCode}` };
      return buildFailure("killed", `Ended by ${result.signal}${printed === "" ? "" : `: ${printed}`}`);
  }
}

/**
 * Builds the environment: names and numbers of the context. A null character, which an environment cannot hold, is
 * left out.
 */
function buildEnvironment(point: HookPoint, context: HookContexts[HookPoint]): Record<string, string> {
  const known: Readonly<Record<string, unknown>> = context;
  const named: readonly (readonly [string, unknown])[] = [
    ["HOLDFAST_HOOK", point],
    ["HOLDFAST_HOOK_ID", known["id"]],
    ["HOLDFAST_SESSION", known["sessionId"]],
    ["HOLDFAST_LOOP", known["loopId"]],
    ["HOLDFAST_TURN", known["turnIndex"]],
    ["HOLDFAST_TOOL", known["toolName"]],
    ["HOLDFAST_TOOL_CALL", known["toolCallId"]],
  ];
  return Object.fromEntries(
    named
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value).replaceAll("\0", "")]),
  );
}

/**
 * Creates an input that is complete before the script starts, so that a script that never reads it blocks nothing. The
 * file loses its name before the conversation is written into it, so that no crash leaves it behind.
 */
async function createUnlinkedFile(text: string): Promise<FileHandle> {
  const name = join(tmpdir(), `holdfast-hook-${randomUUID()}`);
  const handle = await open(name, "wx+", 0o600);
  try {
    await unlink(name);
    const bytes = Buffer.from(text, "utf8");
    // Written by position: the reader shares the file's offset, which must stay at the beginning.
    for (let at = 0; at < bytes.length; ) {
      at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
