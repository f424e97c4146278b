import type { Logger } from "../../../src/platform/log.ts";

export type Warning = { readonly facts: Readonly<Record<string, unknown>>; readonly words: string };

/** A log that keeps its warnings for the test to read. */
export function keepWarnings(): { readonly log: Logger; readonly warnings: readonly Warning[] } {
  const warnings: Warning[] = [];
  const silent = () => undefined;
  const warn = (facts: Warning["facts"], words: string) => warnings.push({ facts, words });
  return { log: { debug: silent, info: silent, warn, error: silent } as unknown as Logger, warnings };
}
