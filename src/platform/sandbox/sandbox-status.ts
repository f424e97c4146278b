import type { Readable } from "node:stream";

/** What bwrap has reported about a sandbox. */
export type SandboxStatus = {
  /** The id of the sandbox's first process, as this process sees it. */
  readonly firstProcess?: number;
  /** Reported only if the command was started. */
  readonly exitCode?: number;
};

/** bwrap writes two lines of some hundred bytes. */
const MAX_BYTES = 16_384;

/**
 * Reads the JSON lines of `bwrap --json-status-fd` until their end.
 *
 * @param onFirstProcess - Called when the sandbox's namespaces exist, and before anything is mounted.
 */
export function readSandboxStatus(
  stream: Readable,
  onFirstProcess: (pid: number) => void,
): Promise<SandboxStatus> {
  return new Promise((resolve) => {
    let status: SandboxStatus = {};
    let text = "";
    const readLines = () => {
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const fields = parseLine(line);
        const [pid, exitCode] = [fields["child-pid"], fields["exit-code"]];
        if (typeof pid === "number" && status.firstProcess === undefined) {
          status = { ...status, firstProcess: pid };
          onFirstProcess(pid);
        }
        if (typeof exitCode === "number") status = { ...status, exitCode };
      }
    };
    stream.on("data", (chunk: Buffer) => {
      if (text.length > MAX_BYTES) return;
      text += chunk.toString("latin1");
      readLines();
    });
    for (const event of ["end", "close"]) stream.once(event, () => resolve(status));
  });
}

function parseLine(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
