import type { SuiteControl } from "../../schema/suite.ts";

/** The states that a change may ask for. */
const STATES: Readonly<Record<SuiteControl["state"], true>> = { running: true, paused: true, stopping: true };

/** The maximum of `SuiteControl`, whose schema the core does not load. */
const MAX_CONCURRENCY = 1000;

/**
 * Reads what a signal changes. Anybody with access to the Temporal server can send one, so values that are not valid are
 * left out: the store has those that count.
 */
export function readControlChange(given: unknown): Partial<SuiteControl> {
  if (typeof given !== "object" || given === null) return {};
  const { state, concurrency, maxCostUsd } = given as Readonly<Record<string, unknown>>;
  return {
    ...(isState(state) ? { state } : {}),
    ...(isConcurrency(concurrency) ? { concurrency } : {}),
    ...(isBudget(maxCostUsd) ? { maxCostUsd } : {}),
  };
}

function isState(value: unknown): value is SuiteControl["state"] {
  return typeof value === "string" && Object.hasOwn(STATES, value);
}

function isConcurrency(value: unknown): value is SuiteControl["concurrency"] {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_CONCURRENCY;
}

function isBudget(value: unknown): value is SuiteControl["maxCostUsd"] {
  return value === null || (typeof value === "number" && Number.isFinite(value) && value > 0);
}
