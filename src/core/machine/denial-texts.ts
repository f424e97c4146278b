import type { CallDigest } from "./state/digest.ts";

// What a model reads about a call that a hook or the user has denied. Each text begins with the words of the sources
// (decision 0034); the reason follows them.

/** TOOL-13. */
const SKIPPED_BY_HOOK_TEXT = "Tool call skipped by before_tool_execution hook";
/** BIT-03: for a call that runs a shell command. */
const UNCONFIRMED_TEXT = "Command was not confirmed by the user.";
/** For any other call. */
const DENIED_TEXT = "Denied by the user";

export function formatHookDenial({
  hook,
  reason,
}: {
  readonly hook: string;
  readonly reason: string;
}): string {
  return `${SKIPPED_BY_HOOK_TEXT} "${hook}": ${reason}`;
}

export function formatUserDenial(call: Pick<CallDigest, "facts">, reason: string | undefined): string {
  const hasReason = reason !== undefined && reason !== "";
  if (runsCommand(call)) return hasReason ? `${UNCONFIRMED_TEXT} Reason: ${reason}` : UNCONFIRMED_TEXT;
  return hasReason ? `${DENIED_TEXT}: ${reason}` : DENIED_TEXT;
}

/** Reports whether the text of an error result says that the user has denied the call. */
export function isUserDenial(text: string): boolean {
  return text.startsWith(DENIED_TEXT) || text.startsWith(UNCONFIRMED_TEXT);
}

function runsCommand({ facts }: Pick<CallDigest, "facts">): boolean {
  return facts?.commands !== undefined || facts?.opaqueReason !== undefined;
}
