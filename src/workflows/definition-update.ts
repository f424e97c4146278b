import { ApplicationFailure } from "@temporalio/common";
import { condition } from "@temporalio/workflow";
import { listPendingApprovals } from "../core/machine/approvals.ts";
import { findMissingTools } from "../core/machine/definition-changes.ts";
import type { State } from "../core/machine/state/state.ts";
import type { DefinitionUpdateRequest, DefinitionUpdateResult } from "./messages.ts";

/** The most tool names that an update may contain. A definition has a few dozen tools at most. */
const MAX_TOOLS = 1000;

/**
 * @throws A failure for the sender, when the update is invalid, or when a pending call needs a tool that the new
 * definition does not have.
 */
export function checkDefinitionUpdate(state: State, input: DefinitionUpdateRequest): DefinitionUpdateRequest {
  const { definitionHash, tools } = (input ?? {}) as Record<string, unknown>;
  if (typeof definitionHash !== "string" || !/^[0-9a-f]{64}$/.test(definitionHash)) {
    throw buildRejection(
      "`definitionHash` must be the hash of a stored definition: 64 digits, 0 to 9 and a to f",
    );
  }
  if (tools === undefined) return { definitionHash };
  const isList = Array.isArray(tools) && tools.length <= MAX_TOOLS;
  if (!isList || !tools.every((name) => typeof name === "string")) {
    throw buildRejection(`\`tools\` must be a list of at most ${MAX_TOOLS} names`);
  }
  const waiting = findMissingTools(listPendingApprovals(state), tools);
  if (waiting.length > 0) throw buildRejection(waiting.join("; "));
  return { definitionHash, tools };
}

/**
 * Waits for the update when the run waits for a prompt: a prompt that is sent after the acknowledgement then finds the
 * run waiting again.
 */
export function awaitDefinitionUpdate(
  read: () => State,
  hash: string,
): DefinitionUpdateResult | Promise<DefinitionUpdateResult> {
  const isMoving = () => {
    const { phase, loop } = read();
    return loop === undefined && phase.type === "updating-definition" && phase.to === hash;
  };
  if (!isMoving()) return { takesEffect: "next-turn" };
  return condition(() => !isMoving()).then(() => {
    const { lastDefinitionUpdate } = read();
    if (lastDefinitionUpdate?.to === hash && lastDefinitionUpdate.rejected !== undefined)
      throw buildRejection(lastDefinitionUpdate.rejected);
    return { takesEffect: "now" };
  });
}

function buildRejection(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "holdfast/update-rejected");
}
