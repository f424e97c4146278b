import { shortenText } from "../text.ts";
import type { Made } from "./carry-out.ts";

const MAX_CHARS = 200;

/** Names the sub-agents that have not finished, a sentence for each: what they had to examine may be open. */
export function describeLostAgents(delegations: Made["delegations"]): readonly string[] {
  return delegations
    .filter(({ status }) => status !== "ended")
    .map(({ name, task, status, reason = "" }) =>
      shortenText(`The sub-agent ${name} is ${status}: ${reason}; its task: ${task}`, MAX_CHARS),
    );
}
