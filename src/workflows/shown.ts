import { defineSearchAttributeKey } from "@temporalio/common";
import { setCurrentDetails, upsertSearchAttributes } from "@temporalio/workflow";
import { dashboard } from "../core/dashboard.ts";
import type { State } from "../core/state.ts";
import { statusOf } from "../core/status.ts";

const STATUS = defineSearchAttributeKey("HoldfastStatus", "KEYWORD");
const AGENT = defineSearchAttributeKey("HoldfastAgent", "KEYWORD");
const MODEL = defineSearchAttributeKey("HoldfastModel", "KEYWORD");
const SESSION = defineSearchAttributeKey("HoldfastSession", "KEYWORD");
const TURNS = defineSearchAttributeKey("HoldfastTurns", "INT");
const COST = defineSearchAttributeKey("HoldfastCostUsd", "DOUBLE");

type Shown = { status: string; turns: number; costUsd: number; agent: string; model: string };

/**
 * When turns and cost are sent, besides with the status. Each time is an event and a write to the server's index: for
 * a fleet that is a tenth of what a turn costs, and a list that is a few turns old answers as well.
 */
const SEND_AFTER_TURNS = 5;
const SEND_AFTER_USD = 0.25;

/**
 * Keeps the Temporal UI up to date: current details cost nothing; search attributes are sent when the status changes,
 * and with every five turns or 25 cents.
 */
export function showcase(searchAttributes: boolean): (state: State) => void {
  let shown: Partial<Shown> = {};
  return (state) => {
    setCurrentDetails(dashboard(state));
    if (!searchAttributes) return;
    const { status, turns, costUsd, agent = "", model = "" } = statusOf(state);
    const now: Shown = { status, turns, costUsd, agent, model };
    if (shown.status === now.status && shown.agent === now.agent) {
      const turnsMore = turns - (shown.turns ?? 0);
      const usdMore = costUsd - (shown.costUsd ?? 0);
      if (turnsMore < SEND_AFTER_TURNS && usdMore < SEND_AFTER_USD) return;
    }
    const changes = [
      ...(shown.status === undefined ? [{ key: SESSION, value: state.session }] : []),
      ...(shown.status === now.status ? [] : [{ key: STATUS, value: now.status }]),
      ...(shown.agent === now.agent || agent === "" ? [] : [{ key: AGENT, value: agent }]),
      ...(shown.model === now.model || model === "" ? [] : [{ key: MODEL, value: model }]),
      ...(shown.turns === now.turns ? [] : [{ key: TURNS, value: turns }]),
      ...(shown.costUsd === now.costUsd ? [] : [{ key: COST, value: costUsd }]),
    ];
    upsertSearchAttributes(changes as Parameters<typeof upsertSearchAttributes>[0]);
    shown = now;
  };
}
