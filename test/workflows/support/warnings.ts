import type { Logger } from "../../../src/platform/log.ts";

export type Warning = { readonly facts: Readonly<Record<string, unknown>>; readonly text: string };

/** A log that stores its warnings for the test to read. */
export function recordWarnings(): { readonly log: Logger; readonly warnings: readonly Warning[] } {
  const warnings: Warning[] = [];
  const ignoreLine = () => undefined;
  const warn = (facts: Warning["facts"], words: string) => warnings.push({ facts, text: words });
  return {
    log: { debug: ignoreLine, info: ignoreLine, warn, error: ignoreLine } as unknown as Logger,
    warnings,
  };
}
