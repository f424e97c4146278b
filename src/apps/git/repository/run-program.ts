import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Error messages are read by people and models: more of them is noise. */
const MAX_STDERR_BYTES = 16 * 1024;

export type ProgramRequest = {
  /** The absolute path of the program. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** The program is killed after more output than this. */
  readonly maxBytes: number;
  /** The program's input; none if absent. */
  readonly input?: string | undefined;
  /** Receives the output, which is then not collected. The program is killed when it returns "enough". */
  readonly onChunk?: ((chunk: Buffer) => "more" | "enough") | undefined;
};

export type ProgramResult = {
  /** `stopped`: its output was enough, or more than the limit. */
  readonly ending: "exited" | "stopped" | "timed-out" | "cancelled";
  /** Null if a signal ended the program. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
};

/** Runs a program without a shell, a terminal or an input of ours. Rejects if it cannot be started. */
export async function runProgram(request: ProgramRequest): Promise<ProgramResult> {
  const { command, args, cwd, env, signal, timeoutMs, maxBytes, input, onChunk } = request;
  const child = spawn(command, args, {
    cwd,
    env: { ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (child.pid === undefined) throw (await once(child, "error"))[0];
  let ending: ProgramResult["ending"] = "exited";
  const stop = (reason: Exclude<ProgramResult["ending"], "exited">) => {
    if (ending === "exited") ending = reason;
    kill(child);
  };
  const timer = setTimeout(() => stop("timed-out"), timeoutMs);
  const onAbort = () => stop("cancelled");
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();

  const chunks: Buffer[] = [];
  let bytes = 0;
  let thrown: unknown;
  child.stdout?.on("data", (chunk: Buffer) => {
    if (ending !== "exited") return;
    const taken = chunk.subarray(0, maxBytes - bytes);
    bytes += chunk.length;
    try {
      if (onChunk === undefined) chunks.push(taken);
      else if (onChunk(taken) === "enough") stop("stopped");
    } catch (error) {
      thrown ??= error;
      stop("stopped");
    }
    if (bytes > maxBytes) stop("stopped");
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString("utf8");
  });
  // A program that ends before it has read its input breaks the pipe.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  try {
    const [exitCode] = (await once(child, "close")) as [number | null];
    if (thrown !== undefined) throw thrown;
    return { ending, exitCode, stdout: Buffer.concat(chunks), stderr: stderr.slice(0, MAX_STDERR_BYTES) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function kill(child: ChildProcess): void {
  child.kill("SIGKILL");
  // A process that the program has started could hold the pipes open.
  child.stdout?.destroy();
  child.stderr?.destroy();
}
