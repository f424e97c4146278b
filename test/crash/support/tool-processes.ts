import { readdirSync, readFileSync } from "node:fs";

/** Returns running processes that a tool call has started: those whose marker begins with this text. */
export function listToolProcesses(callPrefix: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        if (/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))) return [];
        const marked = readFileSync(`/proc/${pid}/environ`, "utf8")
          .split("\0")
          .some((one) => one.startsWith(`HOLDFAST_CALL=${callPrefix}`));
        return marked ? [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")] : [];
      } catch {
        // It has ended in the meantime.
        return [];
      }
    });
}
