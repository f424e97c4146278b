import type { Activities, ToolActivity, ToolInput } from "./activities.ts";
import { closeLoop, record } from "./close-loop/write-steps.ts";
import { compact } from "./compact/compact.ts";
import type { Dependencies } from "./dependencies.ts";
import { decide } from "./evaluation/decide.ts";
import { openEvaluation } from "./evaluation/open-evaluation.ts";
import { weigh } from "./evaluation/weigh.ts";
import { filterInput } from "./filter-input/filter-input.ts";
import { runHook } from "./hooks/run-hook.ts";
import { endPart } from "./job/end-part.ts";
import { handOver } from "./job/hand-over.ts";
import { lastWords } from "./job/last-words.ts";
import { lookAtChild } from "./job/look-at-child.ts";
import { reduceParts } from "./job/reduce-parts.ts";
import { callModel } from "./model/model.ts";
import { openLoop } from "./open-loop/open-loop.ts";
import { retain } from "./retain/retain.ts";
import { beating } from "./step/heartbeat.ts";
import { callTool } from "./tool/tool.ts";
import { moveDefinition } from "./update-definition/move-definition.ts";
import { answerToldTo, resultToldTo } from "./wordless.ts";

const nothing = () => undefined;

/** The activities of a worker. `default` receives every tool call: its activity type is the tool's own name. */
export function createActivities(
  dependencies: Dependencies,
): Activities & { readonly default: ToolActivity } {
  return {
    "open-loop": (input) => beating(nothing, () => openLoop(input, dependencies)),
    model: async (input) => answerToldTo(input, await callModel(input, dependencies)),
    compact: (input) => compact(input, dependencies),
    "run-hook": (input) => runHook(input, dependencies),
    "filter-input": (input) => filterInput(input, dependencies),
    "move-definition": (input) => beating(nothing, () => moveDefinition(input, dependencies)),
    "close-loop": (input) => beating(nothing, () => closeLoop(input, dependencies)),
    "look-at-child": (input) => beating(nothing, () => lookAtChild(input, dependencies)),
    "end-part": (input) => beating(nothing, () => endPart(input)),
    "last-words": (input) => beating(nothing, () => lastWords(input, dependencies)),
    "hand-over": (input) => beating(nothing, () => handOver(input, dependencies)),
    "reduce-parts": (input) => reduceParts(input, dependencies),
    "open-evaluation": (input) => beating(nothing, () => openEvaluation(input, dependencies)),
    weigh: (input) => beating(nothing, () => weigh(input, dependencies)),
    decide: (input) => beating(nothing, () => decide(input, dependencies)),
    retain: (input) => retain(input, dependencies),
    record: (input) => beating(nothing, () => record(input, dependencies)),
    default: async (input: ToolInput) => resultToldTo(input, await callTool(input, dependencies)),
  };
}
