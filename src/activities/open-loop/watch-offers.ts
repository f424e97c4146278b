import { activityInfo, Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import type { OfferChange } from "../../core/machine/offers.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { LoopAtWork } from "../../tools/sources/source.ts";
import type { Dependencies } from "../dependencies.ts";

/** A result may wait for it. */
const TELL_MS = 5000;

/** gRPC: there is no such run, or it is over. */
const NOT_FOUND = 5;

/**
 * Has the run told, by a signal, when what its servers offer is not what the loop is pinned to. Where a worker has no
 * client, as in tests without a server, results of tools say it.
 */
export function watchOffers(
  definition: AgentDefinition,
  { loopId, definitionHash, isOpening }: Pick<LoopAtWork, "loopId" | "definitionHash" | "isOpening">,
  { tools, log }: Pick<Dependencies, "tools" | "log">,
): void {
  const workflow = activityInfo().workflowExecution?.workflowId;
  const client = clientAtHand();
  if (definition.pinned === undefined || workflow === undefined || client === undefined) return;
  tools.outside.watch(definition, {
    workflow,
    loopId,
    definitionHash,
    ...(isOpening === undefined ? {} : { isOpening }),
    tell: async (change) => {
      try {
        await signal(client, workflow, change);
        return "told";
      } catch (error) {
        if (isOver(error)) return "over";
        log.warn(
          { workflow, server: change.server, error: String(error) },
          "A run could not be told what an MCP server offers by now",
        );
        return "failed";
      }
    },
  });
}

async function signal(client: Client, workflow: string, change: OfferChange): Promise<void> {
  const handle = client.workflow.getHandle(workflow);
  await client.withDeadline(Date.now() + TELL_MS, async () => await handle.signal("offersChanged", change));
}

function isOver(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some(
    (one) =>
      (one as { code?: unknown } | undefined)?.code === NOT_FOUND ||
      (one as Error | undefined)?.name === "WorkflowNotFoundError",
  );
}

function clientAtHand(): Client | undefined {
  try {
    return Context.current().client;
  } catch {
    return undefined;
  }
}
