import { buildOutputPlan } from "../../src/activities/model/structured-output.ts";
import { mergeLimits } from "../../src/activities/open-loop/pinned-digest.ts";
import type { HistoryReader, LoopInHistory } from "../../src/client/read/loop-history.ts";
import type { Stage } from "../../src/devkit/scenario/plain/stage.ts";
import type { LoopTerms } from "../../src/store/transcript/loop.ts";
import { toToolDefinition } from "../../src/tools/tool.ts";

/** The transcript that a scenario has left, as a client reads one. */
export function buildPastTranscript({
  transcript,
  notes,
  definition,
  tools,
  providers,
}: Stage): HistoryReader {
  const resolved = tools.resolve(definition.tools);
  const outputMode = buildOutputPlan(definition, providers)?.mode;
  const terms: LoopTerms = {
    tools: resolved.ok ? resolved.tools.map(toToolDefinition) : [],
    limits: mergeLimits(definition, undefined),
    ...(outputMode === undefined ? {} : { output: outputMode }),
  };
  return {
    readBranches: async () => transcript.branches,
    readEntries: async (_, branch, from, to) =>
      transcript.listEntries(branch).filter(({ position }) => position >= from && position < to),
    readEvents: async (loopId) => transcript.listEvents(loopId),
    readDefinition: async () => definition,
    readSteps: async () => notes.steps.map((step) => ({ ...step, run: "run", call: 0 })),
    readNote: async () => "terms",
    readText: async () => JSON.stringify(terms),
  };
}

export function listPastLoops({ transcript }: Stage): readonly LoopInHistory[] {
  return transcript.records.map((record) => ({ ...record, definitionHash: "scenario" }));
}
