import { startChild } from "@temporalio/workflow";
import type { EvaluationRequest, EvaluationResult } from "../../../src/workflows/index.ts";

/** A workflow of an application that has agents compared, on the task queue of a Holdfast worker. */
export async function callEvaluation(
  session: string,
  taskQueue: string,
  request: EvaluationRequest,
): Promise<string> {
  const child = await startChild("evaluation", { workflowId: session, taskQueue, args: [request] });
  const result = (await child.result()) as EvaluationResult;
  return `${result.decision.selected}: ${result.text}`;
}
