import { ApplicationFailure } from "@temporalio/common";
import { condition } from "@temporalio/workflow";
import { listPendingApprovals } from "../core/machine/approvals.ts";
import { findMissingTools } from "../core/machine/definition-changes.ts";
import type { State } from "../core/machine/state/state.ts";
import type { DefinitionUpdateRequest, DefinitionUpdateResult } from "./messages.ts";

/** Names that an update may bring along: a definition has a few dozen tools at most. */
const MAX_TOOLS = 1000;

/** @throws A failure for who sent them, when they make no sense or a call waits that the new definition has no tool for. */
export function checkDefinitionUpdate(state: State, input: DefinitionUpdateRequest): DefinitionUpdateRequest {
  const { definitionHash, tools } = (input ?? {}) as Record<string, unknown>;
  if (typeof definitionHash !== "string" || !/^[0-9a-f]{64}$/.test(definitionHash)) {
    throw buildRejection(
      "`definitionHash` is the hash of a definition that is stored: 64 digits, 0 to 9 and a to f",
    );
  }
  if (tools === undefined) return { definitionHash };
  const isList = Array.isArray(tools) && tools.length <= MAX_TOOLS;
  if (!isList || !tools.every((name) => typeof name === "string")) {
    throw buildRejection(`\`tools\` is a list of names, at most ${MAX_TOOLS}`);
  }
  const waiting = findMissingTools(listPendingApprovals(state), tools);
  if (waiting.length > 0) throw buildRejection(waiting.join("; "));
  return { definitionHash, tools };
}

/** A run that waits for a prompt is moved at once: who sends one behind this finds it waiting again. */
export function awaitDefinitionUpdate(
  read: () => State,
  hash: string,
): DefinitionUpdateResult | Promise<DefinitionUpdateResult> {
  const isMoving = () => {
    const { phase, loop } = read();
    return loop === undefined && phase.type === "moving" && phase.to === hash;
  };
  if (!isMoving()) return { takesEffect: "next-turn" };
  return condition(() => !isMoving()).then(() => {
    const { lastMove } = read();
    if (lastMove?.to === hash && lastMove.refused !== undefined) throw buildRejection(lastMove.refused);
    return { takesEffect: "now" };
  });
}

function buildRejection(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "holdfast/update-refused");
}
