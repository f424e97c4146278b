import type { Delta } from "../stream/stream.ts";
import { hostMark } from "../tools/process/host-id.ts";
import { endGroup } from "../tools/process/process-group.ts";
import type { LostExecution } from "../transcript/step.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Execution } from "./execution.ts";

/** What an unknown outcome shows of what was printed, in characters: the end tells more than the beginning. */
const PRINTED_CHARACTERS = 8000;

export type Ended =
  | "nothing was running any more"
  | "what was still running was ended"
  | "it ran on another host";

/** Makes sure that nothing of a lost execution still runs, before anything is said about it. */
export async function endLost(
  { group, process }: LostExecution,
  call: string,
  { log }: Dependencies,
): Promise<Ended> {
  if (!process.endsWith(`@${hostMark()}`)) return "it ran on another host";
  if (group === undefined) return "nothing was running any more";
  const outcome = await endGroup(group, call);
  log.info({ group, outcome }, "Looked after a lost execution");
  return outcome === "ended" ? "what was still running was ended" : "nothing was running any more";
}

/** The result of an `unsafe` call whose execution was lost: what is known, and what to do. */
export function unknownOutcome(lost: LostExecution, ended: Ended, deltas: readonly Delta[]): Execution {
  const printed = deltas
    .flatMap(({ body }) => (body.type === "tool-output" ? [body.text] : []))
    .join("")
    .slice(-PRINTED_CHARACTERS);
  const text = [
    `The outcome of this call is unknown. It was started at ${new Date(lost.startedAtMs).toISOString()}, then its worker died; ${ended}. It was not run again.`,
    printed === "" ? "Nothing that it printed was seen." : `What it had printed until then:\n${printed}`,
    "Look at what it has changed before you repeat it.",
  ].join("\n");
  return { output: { content: [{ type: "text", text }] }, isError: true, outcomeUnknown: true };
}
