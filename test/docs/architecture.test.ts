import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { STEPS } from "../../src/core/machine/steps.ts";
import { TRANSITIONS } from "../core/transitions.ts";

const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
/** Of the table of phases: the command that `next` gives and the events that lead on, by phase. */
const rows = new Map(
  [...page.matchAll(/^\| `([a-z-]+)` +\| (.*?) +\| (.*?) +\|$/gm)].map(([, phase = "", gives, leads]) => [
    phase,
    { gives, leads },
  ]),
);

test("the page's table lists every phase, with the command and the events of its step", () => {
  expect([...rows.keys()]).toEqual(expect.arrayContaining(Object.keys(TRANSITIONS)));
  for (const [command, { phase, done, failed }] of Object.entries(STEPS)) {
    expect([phase, rows.get(phase)?.gives]).toEqual([phase, expect.stringContaining(`\`${command}\``)]);
    expect([phase, rows.get(phase)?.leads]).toEqual([
      phase,
      expect.stringMatching(`\`${done}\`, \`${failed}\``),
    ]);
  }
});
