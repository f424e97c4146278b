import { isNudge } from "../../core/machine/nudges.ts";
import type { Outbox } from "../../core/machine/state/outbox.ts";
import { reachKillPoint } from "../../platform/kill-point.ts";
import type { Logger } from "../../platform/log.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ClaimResult, Step } from "../../store/transcript/step.ts";
import type { WriteTarget } from "../../store/transcript/store-write.ts";
import type { CallModelInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { announceEvents } from "./live-output.ts";
import { resolveOutbox } from "./resolve-outbox.ts";

/** Writes the outbox of a command, claims its step, and notifies watchers. Returns a result that is already stored. */
export async function claimStep(
  step: Step,
  {
    loopId,
    branch,
    base,
    newBranch,
    turn,
    outbox,
  }: Pick<CallModelInput, "loopId" | "branch" | "base" | "newBranch" | "turn" | "outbox">,
  { transcript, hub, log }: Pick<Dependencies, "transcript" | "hub" | "log">,
): Promise<ClaimResult> {
  const place: WriteTarget = {
    loopId,
    branch,
    base,
    ...omitUndefined({ fork: newBranch }),
  };
  const written = await resolveOutbox(outbox, loopId, transcript);
  reachKillPoint("claim:before");
  const claimed = await transcript.claim(step, place, written, Date.now());
  reachKillPoint("claim:after");
  announceEvents(hub, step, loopId, turn, written.events);
  if (claimed.type === "claimed") logNudges(log, outbox, { session: step.session, loopId, turn });
  return claimed;
}

/** Logs nudges. A nudge travels with the next step, and is logged when that step is claimed. */
function logNudges(
  log: Logger,
  { entries }: Outbox,
  where: { readonly session: string; readonly loopId: string; readonly turn: number },
): void {
  if (entries.some(isNudge)) log.info(where, "The model announced a tool call and made none: nudged");
}
