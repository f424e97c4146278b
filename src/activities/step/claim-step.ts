import { at } from "../../platform/kill-point.ts";
import type { Claimed, Step } from "../../store/transcript/step.ts";
import type { Place } from "../../store/transcript/write.ts";
import type { ModelInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { logNudges } from "../model/log-nudges.ts";
import { unload } from "./cargo.ts";
import { announceEvents } from "./live.ts";

/** Writes what rode along with a command, takes its step, and tells watchers; gives back what is stored already. */
export async function claimStep(
  step: Step,
  {
    loopId,
    branch,
    base,
    fork,
    turn,
    outbox,
  }: Pick<ModelInput, "loopId" | "branch" | "base" | "fork" | "turn" | "outbox">,
  { transcript, hub, log }: Pick<Dependencies, "transcript" | "hub" | "log">,
): Promise<Claimed> {
  const place: Place = { loopId, branch, base, ...(fork === undefined ? {} : { fork }) };
  const written = await unload(outbox, loopId, transcript);
  at("claim:before");
  const claimed = await transcript.claim(step, place, written, Date.now());
  at("claim:after");
  announceEvents(hub, step, loopId, turn, written.events);
  if (claimed.type === "claimed") logNudges(log, outbox, { session: step.session, loopId, turn });
  return claimed;
}
