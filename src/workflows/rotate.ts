import { makeContinueAsNewFunc, type Workflow, workflowInfo } from "@temporalio/workflow";
import { MIN_ROTATE_AFTER_EVENTS, type RunSettings } from "./run-input.ts";

/**
 * Returns whether the run continues as new at the next opportunity: its history is long, or a newer version of the
 * worker exists.
 */
export function shouldRotate(settings: RunSettings): boolean {
  const { continueAsNewSuggested, historyLength, targetWorkerDeploymentVersionChanged } = workflowInfo();
  if (continueAsNewSuggested || historyLength >= settings.rotateAfterEvents) return true;
  // A run that has just moved to another version works first, whatever the server reports about its version.
  return targetWorkerDeploymentVersionChanged && historyLength >= MIN_ROTATE_AFTER_EVENTS;
}

/**
 * Continues as new. A run that is pinned to a version of the worker moves to the current version here, and only here.
 */
export function continueRunAsNew<Of extends Workflow>(...input: Parameters<Of>): Promise<never> {
  const versioned = workflowInfo().currentDeploymentVersion !== undefined;
  const go = makeContinueAsNewFunc<Of>(versioned ? { initialVersioningBehavior: "AUTO_UPGRADE" } : {});
  return go(...input);
}
