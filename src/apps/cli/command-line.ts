import type { GlobalOptions } from "./context.ts";
import { printable } from "./palette.ts";

/** A command line to type again: with the options that named the server, the home and the store this time. */
export function commandLine(options: GlobalOptions, words: readonly string[]): string {
  const { address, namespace, taskQueue, home, database, profile } = options;
  const named = [
    ["--address", address],
    ["--namespace", namespace],
    ["--task-queue", taskQueue],
    ["--home", home],
    ["--database", database],
    ["--profile", profile],
  ] as const;
  const flags = named.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return ["holdfast", ...words, ...flags].map(shellWord).join(" ");
}

/** A word as a POSIX shell must be given it: ids come from outside. */
export function shellWord(word: string): string {
  const text = printable(word);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
