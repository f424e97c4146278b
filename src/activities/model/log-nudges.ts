import { isNudge } from "../../core/machine/nudges.ts";
import type { Outbox } from "../../core/machine/state/outbox.ts";
import type { Logger } from "../../platform/log.ts";

/** Logs nudges. A nudge travels with the next step, and is logged when that step is claimed. */
export function logNudges(
  log: Logger,
  { entries }: Outbox,
  where: { readonly session: string; readonly loopId: string; readonly turn: number },
): void {
  if (entries.some(isNudge)) log.info(where, "The model announced a tool call and made none: nudged");
}
