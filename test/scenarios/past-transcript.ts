import { limitsOf } from "../../src/activities/pinned.ts";
import { outputPlan } from "../../src/activities/structured-output.ts";
import type { PastLoop, PastTranscript } from "../../src/client/past-loops.ts";
import type { Stage } from "../../src/testing/scenario/plain/stage.ts";
import { toolDefinition } from "../../src/tools/tool.ts";
import type { LoopTerms } from "../../src/transcript/loop.ts";

/** The transcript that a scenario has left, as a client reads one. */
export function pastTranscript({ transcript, notes, definition, tools, providers }: Stage): PastTranscript {
  const resolved = tools.resolve(definition.tools);
  const road = outputPlan(definition, providers)?.road;
  const terms: LoopTerms = {
    tools: resolved.ok ? resolved.tools.map(toolDefinition) : [],
    limits: limitsOf(definition, undefined),
    ...(road === undefined ? {} : { output: road }),
  };
  return {
    branches: async () => transcript.branches,
    entries: async (_, branch, from, to) =>
      transcript.entries(branch).filter(({ position }) => position >= from && position < to),
    events: async (loopId) => transcript.events(loopId),
    definition: async () => definition,
    steps: async () => notes.steps.map((step) => ({ ...step, run: "run", call: 0 })),
    note: async () => "terms",
    text: async () => JSON.stringify(terms),
  };
}

export function pastLoops({ transcript }: Stage): readonly PastLoop[] {
  return transcript.records.map((record) => ({ ...record, definitionHash: "scenario" }));
}
