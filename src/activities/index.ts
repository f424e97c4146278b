import type { Activities, ToolActivity, ToolInput } from "./activities.ts";
import { compact } from "./compact.ts";
import { decide } from "./decide.ts";
import type { Dependencies } from "./dependencies.ts";
import { endPart } from "./end-part.ts";
import { filterInput } from "./filter-input.ts";
import { handOver } from "./hand-over.ts";
import { beating } from "./heartbeat.ts";
import { lastWords } from "./last-words.ts";
import { lookAtChild } from "./look-at-child.ts";
import { callModel } from "./model.ts";
import { moveDefinition } from "./move-definition.ts";
import { openEvaluation } from "./open-evaluation.ts";
import { openLoop } from "./open-loop.ts";
import { reduceParts } from "./reduce-parts.ts";
import { retain } from "./retain.ts";
import { runHook } from "./run-hook.ts";
import { callTool } from "./tool.ts";
import { weigh } from "./weigh.ts";
import { answerToldTo, resultToldTo } from "./wordless.ts";
import { closeLoop, record } from "./write-steps.ts";

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
