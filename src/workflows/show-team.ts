import { defineSearchAttributeKey } from "@temporalio/common";
import { setCurrentDetails, upsertSearchAttributes } from "@temporalio/workflow";
import type { Team } from "../core/team/team.ts";
import { teamDashboard, teamStatus } from "../core/team/team-shown.ts";

const SESSION = defineSearchAttributeKey("HoldfastSession", "KEYWORD");
const STATUS = defineSearchAttributeKey("HoldfastStatus", "KEYWORD");
const TURNS = defineSearchAttributeKey("HoldfastTurns", "INT");
const COST = defineSearchAttributeKey("HoldfastCostUsd", "DOUBLE");

/** As for an agent's own run: each time is an event. */
const SEND_AFTER_TURNS = 5;
const SEND_AFTER_USD = 0.25;

/** Keeps the Temporal UI up to date, as `showcase` does for an agent. */
export function teamShowcase(searchAttributes: boolean): (team: Team) => void {
  let shown = { status: "", turns: 0, costUsd: 0 };
  return (team) => {
    const nowMs = Date.now();
    setCurrentDetails(teamDashboard(team, nowMs));
    const { session, status, turns, costUsd } = teamStatus(team, nowMs);
    const isWorthAnEvent =
      status !== shown.status ||
      turns - shown.turns >= SEND_AFTER_TURNS ||
      costUsd - shown.costUsd >= SEND_AFTER_USD;
    if (!searchAttributes || !isWorthAnEvent) return;
    shown = { status, turns, costUsd };
    upsertSearchAttributes([
      { key: SESSION, value: session },
      { key: STATUS, value: status },
      { key: TURNS, value: turns },
      { key: COST, value: costUsd },
    ]);
  };
}
