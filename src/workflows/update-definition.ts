import { ApplicationFailure } from "@temporalio/common";
import { condition } from "@temporalio/workflow";
import { pendingApprovals } from "../core/machine/approvals.ts";
import { missingTools } from "../core/machine/definition-changes.ts";
import type { State } from "../core/machine/state/state.ts";
import type { DefinitionTaken, DefinitionWords } from "./messages.ts";

/** Names that an update may bring along: a definition has a few dozen tools at most. */
const MAX_TOOLS = 1000;

/** @throws A failure for who sent them, when they make no sense or a call waits that the new definition has no tool for. */
export function mustBeDefinition(state: State, words: DefinitionWords): DefinitionWords {
  const { definitionHash, tools } = (words ?? {}) as Record<string, unknown>;
  if (typeof definitionHash !== "string" || !/^[0-9a-f]{64}$/.test(definitionHash)) {
    throw refused(
      "`definitionHash` is the hash of a definition that is stored: 64 digits, 0 to 9 and a to f",
    );
  }
  if (tools === undefined) return { definitionHash };
  const isList = Array.isArray(tools) && tools.length <= MAX_TOOLS;
  if (!isList || !tools.every((name) => typeof name === "string")) {
    throw refused(`\`tools\` is a list of names, at most ${MAX_TOOLS}`);
  }
  const waiting = missingTools(pendingApprovals(state), tools);
  if (waiting.length > 0) throw refused(waiting.join("; "));
  return { definitionHash, tools };
}

/** A run that waits for a prompt is moved at once: who sends one behind this finds it waiting again. */
export function definitionTaken(read: () => State, hash: string): DefinitionTaken | Promise<DefinitionTaken> {
  const isMoving = () => {
    const { phase, loop } = read();
    return loop === undefined && phase.type === "moving" && phase.to === hash;
  };
  if (!isMoving()) return { takesEffect: "next-turn" };
  return condition(() => !isMoving()).then(() => {
    const { lastMove } = read();
    if (lastMove?.to === hash && lastMove.refused !== undefined) throw refused(lastMove.refused);
    return { takesEffect: "now" };
  });
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "holdfast/update-refused");
}
