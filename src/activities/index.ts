import type { Activities, ToolActivity, ToolInput } from "./activity-types.ts";
import { closeLoop, recordOutbox } from "./close-loop/write-steps.ts";
import { compact } from "./compact/compact.ts";
import type { Dependencies } from "./dependencies.ts";
import { openEvaluation } from "./evaluation/open-evaluation.ts";
import { prepareJudge } from "./evaluation/prepare-judge.ts";
import { selectBranch } from "./evaluation/select-branch.ts";
import { filterInput } from "./filter-input/filter-input.ts";
import { runHook } from "./hooks/run-hook.ts";
import { inspectChild } from "./job/inspect-child.ts";
import { passOutput } from "./job/pass-output.ts";
import { readAnswer } from "./job/read-answer.ts";
import { reduceParts } from "./job/reduce-parts.ts";
import { terminatePart } from "./job/terminate-part.ts";
import { callModel } from "./model/call-model.ts";
import { openLoop } from "./open-loop/open-loop.ts";
import { redactAnswer, redactResult } from "./redact-content.ts";
import { applyRetention } from "./retain/apply-retention.ts";
import { prepareAgent, storeMessage } from "./start-agent/prepare-agent.ts";
import { withHeartbeat } from "./step/heartbeat.ts";
import { answerCells } from "./suite/answer-cells.ts";
import { endSuite } from "./suite/end-suite.ts";
import { finishCells } from "./suite/finish-cells.ts";
import { prepareCells } from "./suite/prepare-cells.ts";
import { takeCells } from "./suite/take-cells.ts";
import { makeTitle } from "./title/make-title.ts";
import { callTool } from "./tool/call-tool.ts";
import { updateDefinition } from "./update-definition/update-definition.ts";

const getNoDetails = () => undefined;

/** The activities of a worker, and what answers every tool call, whose activity type is the tool's own name. */
export function createActivities(
  dependencies: Dependencies,
): Activities & { readonly default: ToolActivity } {
  const answerToolCall = async (input: ToolInput) => redactResult(input, await callTool(input, dependencies));
  return {
    "open-loop": (input) => withHeartbeat(getNoDetails, () => openLoop(input, dependencies)),
    "call-model": async (input) => redactAnswer(input, await callModel(input, dependencies)),
    compact: (input) => compact(input, dependencies),
    "run-hook": (input) => runHook(input, dependencies),
    "filter-input": (input) => filterInput(input, dependencies),
    "update-definition": (input) => withHeartbeat(getNoDetails, () => updateDefinition(input, dependencies)),
    "make-title": (input) => makeTitle(input, dependencies),
    "close-loop": (input) => withHeartbeat(getNoDetails, () => closeLoop(input, dependencies)),
    "inspect-child": (input) => withHeartbeat(getNoDetails, () => inspectChild(input, dependencies)),
    "terminate-part": (input) => withHeartbeat(getNoDetails, () => terminatePart(input)),
    "read-answer": (input) => withHeartbeat(getNoDetails, () => readAnswer(input, dependencies)),
    "pass-output": (input) => withHeartbeat(getNoDetails, () => passOutput(input, dependencies)),
    "reduce-parts": (input) => reduceParts(input, dependencies),
    "open-evaluation": (input) => withHeartbeat(getNoDetails, () => openEvaluation(input, dependencies)),
    "prepare-judge": (input) => withHeartbeat(getNoDetails, () => prepareJudge(input, dependencies)),
    "select-branch": (input) => withHeartbeat(getNoDetails, () => selectBranch(input, dependencies)),
    "apply-retention": (input) => applyRetention(input, dependencies),
    "take-cells": (input) => withHeartbeat(getNoDetails, () => takeCells(input, dependencies)),
    "answer-cells": (input) => answerCells(input, dependencies),
    "prepare-cells": (input) => prepareCells(input, dependencies),
    "finish-cells": (input) => finishCells(input, dependencies),
    "end-suite": (input) => withHeartbeat(getNoDetails, () => endSuite(input, dependencies)),
    record: (input) => withHeartbeat(getNoDetails, () => recordOutbox(input, dependencies)),
    "prepare-agent": (input) => prepareAgent(input, dependencies),
    "store-message": (input) => storeMessage(input, dependencies),
    "call-tool": answerToolCall,
    default: answerToolCall,
  };
}
