import type { ViewSnapshot } from "../../src/core/view/view.ts";
import type { ContinuationKind } from "../../src/schema/record.ts";
import type { OpenedLoop } from "../../src/store/transcript/loop.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { entry, message, opening, step, USAGE, write } from "./sample-writes.ts";

type LoopSpec = {
  readonly session?: string;
  readonly at?: { branch: string; position?: number };
  /** A branch by default if `at` is set. */
  readonly kind?: ContinuationKind;
  readonly texts?: readonly string[];
  readonly view?: ViewSnapshot;
  readonly open?: true;
};

/** Returns a function that writes a loop in a run of its own: its prompt, its answers and its end. */
export function createLoopWriter(transcript: Transcript): (of?: LoopSpec) => Promise<OpenedLoop> {
  let runs = 0;
  return async ({ session = "s", at, kind, texts = ["answer"], view, open } = {}) => {
    runs++;
    const run = `run${runs}`;
    const opened = await transcript.openLoop(
      opening({
        step: step({ session, run, number: 0, kind: "open-loop" }),
        atMs: 100 * runs,
        prompts: [message(`${session}-${run}`, `prompt ${runs}`)],
        ...(at === undefined ? {} : { at, kind: { type: "branch", tag: "2026-01-01T00:00:00Z" } }),
        ...(kind === undefined ? {} : { kind }),
      }),
    );
    const { loopId, branch, from } = opened;
    const base = from + opened.entries.length;
    const entries = texts.map((text, index) => entry(base + index, text));
    await transcript.store(write({ loopId, branch, base }, { step: step({ session, run }), entries }));
    if (open === true) return opened;
    const to = base + texts.length;
    await transcript.closeLoop({
      ...write({ loopId, branch, base: to }, { step: step({ session, run, number: 2 }) }),
      status: "completed",
      outcome: { type: "answered", stopReason: "stop" },
      usage: USAGE,
      costUsd: 0,
      turns: 1,
      to,
      ...(view === undefined ? {} : { view }),
    });
    return opened;
  };
}
