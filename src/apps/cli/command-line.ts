import type { GlobalOptions } from "./context.ts";
import { stripControls } from "./palette.ts";

/** Formats a command line to type, with this command's options for the server, the home and the store. */
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

/** Quotes a word for a POSIX shell; ids can contain any characters. */
export function quoteShellWord(word: string): string {
  const text = stripControls(word);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
