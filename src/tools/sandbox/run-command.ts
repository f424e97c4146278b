import { buildCleanEnvironment } from "../../platform/process/clean-environment.ts";
import type { SpawnedGroup } from "../../platform/process/process-group.ts";
import { startWithoutSandbox } from "../../platform/process/process-starter.ts";
import { runSupervised, StartError } from "../../platform/process/run-supervised.ts";
import type { SandboxReport } from "../../schema/sandbox.ts";
import { type RunCommand, type ToolContext, ToolError } from "../tool-execution.ts";
import { type OpenSandbox, SandboxUnavailableError } from "./sandboxes.ts";

export const DEFAULT_TIMEOUT_MS = 120_000;
export const DEFAULT_MAX_OUTPUT_BYTES = 256 * 1024;

export type CommandPlace = {
  /** Opens the sandbox at the first command. */
  readonly openSandbox: () => Promise<OpenSandbox>;
  readonly workspace: string;
  /** Marks the processes of the call, so that a later worker finds them. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly onSpawned: (group: SpawnedGroup) => Promise<void>;
};

/** Creates what runs the commands of a call outside of its sandbox, and says so in the record. */
export function createUnsandboxedRunCommand(context: ToolContext): RunCommand {
  const report: SandboxReport = { mode: "off" };
  context.sandbox?.note(report);
  const openSandbox = async () => ({ start: startWithoutSandbox, recorder: { getReport: () => report } });
  return createRunCommand({ ...context, openSandbox });
}

/** Creates what runs the commands of one call. */
export function createRunCommand(place: CommandPlace): RunCommand {
  return async ({ command, args = [], cwd, env, allowEnvironment, ...limits }) => {
    try {
      const { start } = await place.openSandbox();
      return await runSupervised({
        start,
        command,
        args,
        cwd: cwd ?? place.workspace,
        env: { ...buildCleanEnvironment(place.idempotencyKey, allowEnvironment), ...env },
        signal: place.signal,
        timeoutMs: limits.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        graceMs: limits.graceMs,
        maxOutputBytes: limits.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
        onSpawned: place.onSpawned,
        onOutput: limits.onOutput,
      });
    } catch (error) {
      if (error instanceof SandboxUnavailableError)
        throw new ToolError("failed", error.message, { cause: error });
      if (!(error instanceof StartError)) throw error;
      throw new ToolError("failed", `Failed to execute: ${error.message}`, { cause: error });
    }
  };
}
