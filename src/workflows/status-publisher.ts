import { defineSearchAttributeKey } from "@temporalio/common";
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import type { Cost } from "../core/budget/usage.ts";
import { formatDashboard } from "../core/machine/dashboard.ts";
import type { State } from "../core/machine/state/state.ts";
import { buildStatus, type Status } from "../core/machine/status.ts";

const STATUS = defineSearchAttributeKey("HoldfastStatus", "KEYWORD");
const AGENT = defineSearchAttributeKey("HoldfastAgent", "KEYWORD");
const MODEL = defineSearchAttributeKey("HoldfastModel", "KEYWORD");
const SESSION = defineSearchAttributeKey("HoldfastSession", "KEYWORD");
const TURNS = defineSearchAttributeKey("HoldfastTurns", "INT");
const COST = defineSearchAttributeKey("HoldfastCostUsd", "DOUBLE");

type AttributeValues = {
  readonly session: string | undefined;
  readonly status: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  readonly turns: number | undefined;
  /** `null` when a price is unknown: the run has no such attribute then. */
  readonly costUsd: Cost | undefined;
};

/**
 * When turns and cost are sent, besides with the status. Each time is an event and a write to the server's index: for
 * a fleet that is a tenth of what a turn costs, and a list that is a few turns old answers as well.
 */
const SEND_AFTER_TURNS = 5;
const SEND_AFTER_USD = 0.25;

/** Between two states that are both told within milliseconds; the next one says it all. */
function isTransient({ phase, stop }: State): boolean {
  return phase.type === "closing" && stop === undefined;
}

/**
 * Keeps the Temporal UI up to date: current details cost nothing; search attributes are sent when the status changes,
 * and with every five turns or 25 cents.
 */
export function createStatusPublisher(searchAttributes: boolean): (state: State) => void {
  return createPublisher(searchAttributes, { details: formatDashboard, status: buildStatus, isTransient });
}

/** What search attributes say. */
type StatusAttributes = Pick<Status, "session" | "status" | "agent" | "model" | "turns" | "costUsd">;

/** How a state of some kind is shown. */
export type StatusView<S> = {
  readonly details: (state: S) => string;
  readonly status: (state: S) => StatusAttributes;
  /** It is not worth telling; the next one says it all. Absent: every one is. */
  readonly isTransient?: (state: S) => boolean;
};

export function createPublisher<S>(searchAttributes: boolean, showing: StatusView<S>): (state: S) => void {
  let shown: Partial<AttributeValues> = searchAttributes ? readInitialAttributes() : {};
  let latest: S | undefined;
  return (state) => {
    if (state === latest) return;
    latest = state;
    setCurrentDetails(showing.details(state));
    if (!searchAttributes || showing.isTransient?.(state) === true) return;
    const now = { ...shown, ...toAttributes(showing.status(state)) };
    if (!needsUpdate(shown, now)) return;
    const changes = [
      ...(shown.session === now.session ? [] : [{ key: SESSION, value: now.session }]),
      ...(shown.status === now.status ? [] : [{ key: STATUS, value: now.status }]),
      ...(shown.agent === now.agent ? [] : [{ key: AGENT, value: now.agent }]),
      ...(shown.model === now.model ? [] : [{ key: MODEL, value: now.model }]),
      ...(shown.turns === now.turns ? [] : [{ key: TURNS, value: now.turns }]),
      ...(shown.costUsd === now.costUsd ? [] : [{ key: COST, value: now.costUsd }]),
    ];
    upsertSearchAttributes(changes as Parameters<typeof upsertSearchAttributes>[0]);
    shown = now;
  };
}

/** What the client has said when it started the run, or the run before has left when it continued as new. */
function readInitialAttributes(): Partial<AttributeValues> {
  const { typedSearchAttributes: known } = workflowInfo();
  return {
    session: known.get(SESSION),
    status: known.get(STATUS),
    agent: known.get(AGENT),
    model: known.get(MODEL),
    turns: known.get(TURNS),
    costUsd: known.get(COST),
  };
}

/** Agent and model are not known before the loop is open. */
function toAttributes({
  session,
  status,
  agent,
  model,
  turns,
  costUsd,
}: StatusAttributes): Partial<AttributeValues> {
  return {
    session,
    status,
    turns,
    costUsd,
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
  };
}

function needsUpdate(shown: Partial<AttributeValues>, now: Partial<AttributeValues>): boolean {
  const { turns = 0, costUsd = 0 } = shown;
  return (
    shown.session !== now.session ||
    shown.status !== now.status ||
    shown.agent !== now.agent ||
    shown.model !== now.model ||
    // What stands there is a number, and is not true any more.
    (costUsd !== null && now.costUsd === null) ||
    (now.turns ?? 0) - turns >= SEND_AFTER_TURNS ||
    (now.costUsd ?? 0) - (costUsd ?? 0) >= SEND_AFTER_USD
  );
}
