import { spawn } from "node:child_process";

/** The length of a command's output that a message contains. */
const MAX_OUTPUT_CHARS = 2_000;

export interface CommandResult {
  readonly ok: boolean;
  /** The end of its output, both streams combined, or why it could not run. */
  readonly output: string;
}

/**
 * Runs a command to its end with a time limit; never throws.
 *
 * @param giveUp - Called every second; returns a reason to stop early, or undefined to continue.
 */
export function runCommand(
  file: string,
  args: readonly string[],
  options: {
    readonly timeoutMs: number;
    readonly env?: NodeJS.ProcessEnv;
    readonly giveUp?: () => string | undefined;
  },
): Promise<CommandResult> {
  return new Promise((resolve) => {
    let output = "";
    let stopped: string | undefined;
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env: options.env ?? process.env });
    const stop = (reason: string): void => {
      stopped ??= reason;
      child.kill("SIGKILL");
    };
    const limit = setTimeout(() => stop(`took longer than ${options.timeoutMs / 1000} s`), options.timeoutMs);
    const watch = setInterval(() => {
      const reason = options.giveUp?.();
      if (reason !== undefined) stop(reason);
    }, 1_000);
    const appendOutput = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-MAX_OUTPUT_CHARS);
    };
    const settle = (result: CommandResult): void => {
      clearTimeout(limit);
      clearInterval(watch);
      resolve(result);
    };
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", appendOutput).on("error", () => undefined);
    child.on("error", (error: NodeJS.ErrnoException) =>
      settle({ ok: false, output: error.code === "ENOENT" ? "not installed" : error.message }),
    );
    child.once("close", (code, signal) => {
      const text = output.trim();
      if (code === 0) settle({ ok: true, output: text });
      else settle({ ok: false, output: stopped ?? (text === "" ? `ended with ${code ?? signal}` : text) });
    });
  });
}
