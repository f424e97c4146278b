import { Context } from "@temporalio/activity";
import { WorkflowNotFoundError } from "@temporalio/common";

/** Reads whether the run of a cell works, has ended, or was never started. */
export async function readWorkflow(session: string): Promise<"running" | "closed" | "none"> {
  try {
    const { status } = await Context.current().client.workflow.getHandle(session).describe();
    return status.name === "RUNNING" ? "running" : "closed";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return "none";
    throw error;
  }
}

export async function isRunning(session: string): Promise<boolean> {
  return (await readWorkflow(session)) === "running";
}
