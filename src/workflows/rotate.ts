import { makeContinueAsNewFunc, type Workflow, workflowInfo } from "@temporalio/workflow";
import { MIN_ROTATE_AFTER_EVENTS, type RunSettings } from "./run-input.ts";

/** Whether the next good place is one to continue as new at: the history is long, or a newer version is to be moved to. */
export function shouldRotate(settings: RunSettings): boolean {
  const { continueAsNewSuggested, historyLength, targetWorkerDeploymentVersionChanged } = workflowInfo();
  if (continueAsNewSuggested || historyLength >= settings.rotateAfterEvents) return true;
  // One that was moved just now is let work first, whatever the server says of its version.
  return targetWorkerDeploymentVersionChanged && historyLength >= MIN_ROTATE_AFTER_EVENTS;
}

/** Continues as new. A run that is pinned to a version of the worker moves to the current one here, and here alone. */
export function continueRunAsNew<Of extends Workflow>(...input: Parameters<Of>): Promise<never> {
  const versioned = workflowInfo().currentDeploymentVersion !== undefined;
  const go = makeContinueAsNewFunc<Of>(versioned ? { initialVersioningBehavior: "AUTO_UPGRADE" } : {});
  return go(...input);
}
