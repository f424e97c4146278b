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
 * How often turns and cost are sent. Each time is an event and a write to the server's index; a list that is two
 * seconds old is as good.
 */
const SEND_EVERY_MS = 2000;

/**
 * Keeps the Temporal UI up to date: current details cost nothing; search attributes are sent when the status changes,
 * and otherwise at most every two seconds.
 */
export function showcase(searchAttributes: boolean): (state: State) => void {
  let shown: Partial<Shown> = {};
  let sentAtMs = 0;
  return (state) => {
    setCurrentDetails(dashboard(state));
    if (!searchAttributes) return;
    const { status, turns, costUsd, agent = "", model = "" } = statusOf(state);
    const now: Shown = { status, turns, costUsd, agent, model };
    if (shown.status === now.status && shown.agent === now.agent) {
      if (shown.turns === now.turns || state.nowMs - sentAtMs < SEND_EVERY_MS) return;
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
    sentAtMs = state.nowMs;
  };
}
