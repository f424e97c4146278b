import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Command lines of the running processes that were started with this environment variable. */
export function listCommandLines(variable: string): string[] {
  return listMarked(variable).map(({ commandLine }) => commandLine);
}

/** For use after a test, so that a failed test leaves no process running. */
export function killMarked(variable: string): void {
  for (const { pid } of listMarked(variable)) process.kill(pid, "SIGKILL");
}

function listMarked(variable: string): { pid: number; commandLine: string }[] {
  const found: { pid: number; commandLine: string }[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      if (/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))) continue;
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(variable)) continue;
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      found.push({ pid: Number(pid), commandLine });
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

/** Polls until the condition holds; otherwise fails with the last value. */
export async function eventually<T>(probe: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const value = await probe();
    if (holds(value)) return value;
    if (performance.now() > giveUpAt) throw new Error(`never held; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function makeFifo(path: string): void {
  execFileSync("mkfifo", [path]);
}
