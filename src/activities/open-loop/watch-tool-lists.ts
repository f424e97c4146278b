import { activityInfo, Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import type { ToolListChange } from "../../core/machine/state/run-event.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { ActiveLoop } from "../../tools/sources/tool-source.ts";
import type { Dependencies } from "../dependencies.ts";

/** A tool result may wait this long for the signal. */
const SIGNAL_TIMEOUT_MS = 5000;

/** The gRPC code NOT_FOUND: there is no such run, or it has ended. */
const NOT_FOUND = 5;

/**
 * Notifies the run with a signal when its servers offer other tools than the loop is pinned to. A worker without a
 * client, as in tests without a server, reports the change with the results of tools.
 */
export function watchToolLists(
  definition: AgentDefinition,
  { loopId, definitionHash, isOpening }: Pick<ActiveLoop, "loopId" | "definitionHash" | "isOpening">,
  { tools, defaultWorkspace, log }: Pick<Dependencies, "tools" | "defaultWorkspace" | "log">,
): void {
  const workflow = activityInfo().workflowExecution?.workflowId;
  const client = getClient();
  if (definition.pinned === undefined || workflow === undefined || client === undefined) return;
  tools.sources.watch(definition, {
    workflow,
    loopId,
    workspace: definition.workspace ?? defaultWorkspace,
    definitionHash,
    ...omitUndefined({ isOpening }),
    notify: async (change) => {
      try {
        await sendToolListChange(client, workflow, change);
        return "notified";
      } catch (error) {
        if (isRunEnded(error)) return "ended";
        log.warn(
          { workflow, server: change.server, error: String(error) },
          "Could not notify a run of an MCP server's changed tool list",
        );
        return "failed";
      }
    },
  });
}

async function sendToolListChange(client: Client, workflow: string, change: ToolListChange): Promise<void> {
  const handle = client.workflow.getHandle(workflow);
  await client.withDeadline(
    Date.now() + SIGNAL_TIMEOUT_MS,
    async () => await handle.signal("toolListChanged", change),
  );
}

function isRunEnded(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some(
    (one) =>
      (one as { code?: unknown } | undefined)?.code === NOT_FOUND ||
      (one as Error | undefined)?.name === "WorkflowNotFoundError",
  );
}

function getClient(): Client | undefined {
  try {
    return Context.current().client;
  } catch {
    return undefined;
  }
}
