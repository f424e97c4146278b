import type { SuiteControl } from "../../schema/suite.ts";
import type { CellRange, TakenCells } from "./suite-parts.ts";

// How a suite divides its concurrency and its budget among the parts that work side by side.
//
// Invariants
//   P1. What is granted to parts that work, and what was spent before they began, is at most the budget.
//   P2. The parts that work together ask at most `concurrency` cells side by side, rounded up to one for each part.

/** The most parts that work side by side: enough to keep two cores busy while one of them begins or ends. */
export const MAX_LANES = 4;

/** A part that works, and what was granted to it. */
export type WorkingPart = { readonly id: number; readonly nanoUsd: number | null };

/** Computes how many parts work side by side. */
export function countLanes({ concurrency }: SuiteControl): number {
  return Math.min(MAX_LANES, concurrency);
}

/** Computes the concurrency of one lane: the first ones have the rest. */
export function shareConcurrency(control: SuiteControl, lane: number): number {
  const lanes = countLanes(control);
  const share = Math.floor(control.concurrency / lanes);
  return share + (lane < control.concurrency % lanes ? 1 : 0);
}

/**
 * Grants a part its share of what is left: `undefined` if nothing is. A part alone is granted everything.
 *
 * @param parts - The parts that work, without this one.
 */
export function grantBudget(
  { control, spentNanoUsd }: Pick<TakenCells, "control" | "spentNanoUsd">,
  { cells }: Pick<CellRange, "cells">,
  pending: number,
  parts: readonly WorkingPart[],
): number | null | undefined {
  const { maxCostUsd } = control;
  if (maxCostUsd === null) return null;
  const granted = parts.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
  const left = Math.floor(maxCostUsd * 1e9) - (spentNanoUsd ?? Number.POSITIVE_INFINITY) - granted;
  if (!(left > 0)) return undefined;
  const lanesLeft = Math.max(1, Math.min(countLanes(control) - parts.length, Math.ceil(pending / cells)));
  return Math.max(1, Math.floor(left / lanesLeft));
}
