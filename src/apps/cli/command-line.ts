import type { GlobalOptions } from "./context.ts";
import { stripControls } from "./palette.ts";

/** A command line to type again: with the options that named the server, the home and the store this time. */
export function formatCommandLine(options: GlobalOptions, args: readonly string[]): string {
  const { address, namespace, taskQueue, home, database, profile } = options;
  const optionValues = [
    ["--address", address],
    ["--namespace", namespace],
    ["--task-queue", taskQueue],
    ["--home", home],
    ["--database", database],
    ["--profile", profile],
  ] as const;
  const flags = optionValues.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return ["holdfast", ...args, ...flags].map(quoteShellWord).join(" ");
}

/** A word as a POSIX shell must be given it: ids come from outside. */
export function quoteShellWord(word: string): string {
  const text = stripControls(word);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
