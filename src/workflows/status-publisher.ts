import { defineSearchAttributeKey } from "@temporalio/common";
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import type { Cost } from "../core/budget/usage.ts";
import { formatDashboard } from "../core/machine/dashboard.ts";
import type { State } from "../core/machine/state/state.ts";
import { buildStatusAttributes, type StatusAttributes } from "../core/machine/status.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { RunSettings } from "./run-input.ts";

const STATUS = defineSearchAttributeKey("HoldfastStatus", "KEYWORD");
const AGENT = defineSearchAttributeKey("HoldfastAgent", "KEYWORD");
const MODEL = defineSearchAttributeKey("HoldfastModel", "KEYWORD");
const SESSION = defineSearchAttributeKey("HoldfastSession", "KEYWORD");
const TURNS = defineSearchAttributeKey("HoldfastTurns", "INT");
const COST = defineSearchAttributeKey("HoldfastCostUsd", "DOUBLE");
const TITLE = defineSearchAttributeKey("HoldfastTitle", "TEXT");

type AttributeValues = {
  readonly session: string | undefined;
  readonly status: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  readonly turns: number | undefined;
  /** `null` when a price is unknown: the run then has no such attribute. */
  readonly costUsd: Cost | undefined;
  readonly title: string | undefined;
};

/**
 * The steps at which turns and cost are sent, in addition to changes of the status. Each update is an event and a
 * write to the server's index, which for a fleet is a tenth of the cost of a turn. A list that is a few turns old is
 * good enough.
 */
const SEND_AFTER_TURNS = 5;
const SEND_AFTER_USD = 0.25;

/** Returns whether another state with the same information follows within milliseconds. */
function isTransient({ phase, stop }: State): boolean {
  return phase.type === "closing" && stop === undefined;
}

/**
 * Keeps the Temporal UI up to date. Current details are formatted when somebody opens them. Search attributes are sent
 * when the status changes, and every five turns or 25 cents.
 */
export function createStatusPublisher({ searchAttributes, title }: RunSettings): (state: State) => void {
  const status =
    title === "attribute"
      ? buildStatusAttributes
      : (state: State) => ({ ...buildStatusAttributes(state), title: undefined });
  return createPublisher(searchAttributes, { details: formatDashboard, status, isTransient });
}

/** How a state of some kind is displayed. */
export type StatusView<S> = {
  /** Formats the current details; called when they are read, so that a state nobody looks at costs nothing. */
  readonly details: (state: S) => string;
  readonly status: (state: S) => Omit<StatusAttributes, "title"> & { readonly title?: string | undefined };
  /**
   * Returns whether a state is not worth publishing because the next one follows at once. If absent, every state is
   * published.
   */
  readonly isTransient?: (state: S) => boolean;
};

export function createPublisher<S>(searchAttributes: boolean, showing: StatusView<S>): (state: S) => void {
  let shown: Partial<AttributeValues> = searchAttributes ? readInitialAttributes() : {};
  let latest: S | undefined;
  return (state) => {
    if (state === latest) return;
    latest = state;
    setCurrentDetails(formatWhenRead(() => showing.details(state)));
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
      ...(shown.title === now.title ? [] : [{ key: TITLE, value: now.title }]),
    ];
    upsertSearchAttributes(changes as Parameters<typeof upsertSearchAttributes>[0]);
    shown = now;
  };
}

/**
 * Returns a text for `setCurrentDetails` that is formatted when Temporal reads it. The SDK keeps the value as it is, and
 * converts it to JSON when a user opens the workflow.
 */
function formatWhenRead(format: () => string): string {
  return { toJSON: format } as unknown as string;
}

/** Returns what the client set when it started the run, or what the previous run left when it continued as new. */
function readInitialAttributes(): Partial<AttributeValues> {
  const { typedSearchAttributes: known } = workflowInfo();
  return {
    session: known.get(SESSION),
    status: known.get(STATUS),
    agent: known.get(AGENT),
    model: known.get(MODEL),
    turns: known.get(TURNS),
    costUsd: known.get(COST),
    title: known.get(TITLE),
  };
}

/** Agent, model and title are unknown before the loop is open. */
function toAttributes({
  session,
  status,
  agent,
  model,
  turns,
  costUsd,
  title,
}: ReturnType<StatusView<unknown>["status"]>): Partial<AttributeValues> {
  return {
    session,
    status,
    turns,
    costUsd,
    ...omitUndefined({ agent, model, title }),
  };
}

function needsUpdate(shown: Partial<AttributeValues>, now: Partial<AttributeValues>): boolean {
  const { turns = 0, costUsd = 0 } = shown;
  return (
    shown.session !== now.session ||
    shown.status !== now.status ||
    shown.agent !== now.agent ||
    shown.model !== now.model ||
    shown.title !== now.title ||
    // The attribute is still a number, which is no longer true.
    (costUsd !== null && now.costUsd === null) ||
    (now.turns ?? 0) - turns >= SEND_AFTER_TURNS ||
    (now.costUsd ?? 0) - (costUsd ?? 0) >= SEND_AFTER_USD
  );
}
