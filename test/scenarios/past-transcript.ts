import { outputPlan } from "../../src/activities/model/structured-output.ts";
import { limitsOf } from "../../src/activities/open-loop/pinned.ts";
import type { PastLoop, PastTranscript } from "../../src/client/read/past-loops.ts";
import type { Stage } from "../../src/devkit/scenario/plain/stage.ts";
import type { LoopTerms } from "../../src/store/transcript/loop.ts";
import { toolDefinition } from "../../src/tools/tool.ts";

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
