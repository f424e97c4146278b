import { z } from "zod";
import { buildCleanEnvironment, DEFAULT_PATH } from "../../platform/process/clean-environment.ts";
import { findProgram } from "../../platform/process/find-program.ts";
import { DEFAULT_GRACE_MS } from "../../platform/process/run-supervised.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import {
  createUnsandboxedRunCommand,
  DEFAULT_MAX_OUTPUT_BYTES,
  DEFAULT_TIMEOUT_MS,
} from "../sandbox/run-command.ts";
import { defineTool, type ExecutableTool } from "../tool.ts";
import { type CommandResult, type ToolContext, ToolError } from "../tool-execution.ts";
import { throwIfCancelled, toToolError } from "../workspace/system-error.ts";
import { openFolder, openRoot } from "../workspace/workspace-access.ts";

/** The options of the tool that runs shell commands. */
export type BashToolOptions = {
  /** The working directory, within the workspace; the workspace itself by default. */
  readonly cwd?: string;
  /** The limit of one command, in milliseconds. */
  readonly timeoutMs?: number;
  /** The limit for each of stdout and stderr. */
  readonly maxOutputBytes?: number;
  /** A command that contains one of these is rejected. This guards against slips, not against malice. */
  readonly denyPatterns?: readonly string[];
  /** Whether the user must approve each command that no permission rule allows. */
  readonly needsApproval?: boolean;
  /** Names of the worker's environment variables that the command receives besides PATH, HOME and the like. */
  readonly allowEnvironment?: readonly string[];
  /** The time between SIGTERM and SIGKILL when the command is cancelled or times out. */
  readonly graceMs?: number;
};

export const DEFAULT_DENY_PATTERNS = [
  "rm -rf /",
  "rm -rf /*",
  "mkfs",
  "dd if=",
  ":(){:|:&};:",
  ":(){ :|:& };:",
];

/** The worker adds this to the command's own limit: time to end the process group and to write the claim. */
const TIMEOUT_MARGIN_MS = 10_000;

const Parameters = z.object({
  command: z.string().describe("The command to run with bash"),
});

const UNSANDBOXED_BASH_TOOL = "bash_outside_sandbox";

export function createBashTool(options: BashToolOptions = {}): ExecutableTool {
  return createShellTool(options, {
    name: "bash",
    label: "Bash",
    description:
      "Runs a command with bash in the workspace and returns its exit code, standard output and standard error. " +
      "Every process that the command starts ends with it. There is no terminal and no standard input.",
    processes: "sandboxed",
  });
}

/**
 * Creates the tool that runs a command with the worker's rights. It is another tool than bash, so that no rule or approval for
 * bash allows it, and the user must approve each call that no permission rule allows.
 */
export function createUnsandboxedBashTool(options: BashToolOptions = {}): ExecutableTool {
  return createShellTool(
    { ...options, needsApproval: true },
    {
      name: UNSANDBOXED_BASH_TOOL,
      label: "Bash outside of the sandbox",
      description:
        "Runs a command with bash outside of the sandbox, with all rights of the worker, after the user has approved it. " +
        "For a command that the sandbox prevents, and only if there is no other way. Otherwise it is like bash.",
      processes: "off",
    },
  );
}

type ShellToolKind = Pick<ExecutableTool, "name" | "label" | "description" | "processes">;

function createShellTool(options: BashToolOptions, kind: ShellToolKind): ExecutableTool {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const { denyPatterns = DEFAULT_DENY_PATTERNS, graceMs = DEFAULT_GRACE_MS } = options;

  async function run(command: string, context: ToolContext): Promise<CommandResult> {
    throwIfCancelled(context.signal);
    const folder = await openFolder(await openRoot(context.workspace), options.cwd ?? ".").catch((error) => {
      throw toToolError(error, `Cannot access ${options.cwd}`);
    });
    try {
      const { PATH = DEFAULT_PATH } = buildCleanEnvironment(context.idempotencyKey);
      const shell = (await findProgram("bash", PATH)) ?? "/bin/sh";
      context.onProgress(`Running ${getFirstLine(command)}`);
      const runCommand = kind.processes === "off" ? createUnsandboxedRunCommand(context) : context.runCommand;
      return await runCommand.call(context, {
        command: shell,
        args: ["-c", command],
        cwd: folder.getPath(),
        ...omitUndefined({ allowEnvironment: options.allowEnvironment }),
        timeoutMs,
        graceMs,
        maxOutputBytes,
        onOutput: (_stream, text) => context.onUpdate(text),
      });
    } finally {
      await folder.handle.close();
    }
  }

  return defineTool({
    ...kind,
    inputSchema: Parameters,
    replay: "unsafe",
    timeoutMs: timeoutMs + graceMs + TIMEOUT_MARGIN_MS,
    touches: ({ command }) => ({ command, ...omitUndefined({ cwd: options.cwd }) }),
    summarise: ({ command }) => command,
    needsApproval: options.needsApproval ?? false,
    async execute({ command }, context) {
      const denied = denyPatterns.find((pattern) => command.includes(pattern));
      if (denied !== undefined) {
        throw new ToolError("failed", `Command blocked by safety policy: contains '${denied}'`);
      }
      const result = await run(command, context);
      if (result.ending === "cancelled") throw new ToolError("cancelled", "Cancelled");
      if (result.ending === "timed-out") {
        throw new ToolError(
          "failed",
          `Command timed out after ${timeoutMs / 1000}s${describePartialOutput(result)}`,
        );
      }
      const exitCode = result.exitCode ?? -1;
      const signal = result.signal === null ? {} : { signal: result.signal };
      return {
        content: [{ type: "text", text: `Exit code: ${exitCode}\n${describeOutput(result)}` }],
        details: { exit_code: exitCode, success: exitCode === 0, ...signal },
      };
    },
  });
}

function describeOutput(result: CommandResult): string {
  const stdout = addTruncationNotice(result.stdout, result.stdoutTruncated);
  const stderr = addTruncationNotice(result.stderr, result.stderrTruncated);
  return stderr === "" ? stdout : `STDOUT:\n${stdout}\nSTDERR:\n${stderr}`;
}

function describePartialOutput(result: CommandResult): string {
  const output = describeOutput(result);
  return output === "" ? "" : `\n${output}`;
}

function addTruncationNotice(text: string, truncated: boolean): string {
  return truncated ? `${text}\n... (output truncated)` : text;
}

function getFirstLine(command: string): string {
  return command.trimStart().split("\n", 1)[0]?.slice(0, 200) ?? "";
}
