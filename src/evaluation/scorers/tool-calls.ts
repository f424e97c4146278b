import { isObject } from "../../platform/text/json.ts";
import type { Score } from "../../schema/score.ts";
import type { ScoredCall, ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { containsJson, isEqualJson } from "./compare-values.ts";
import { toFraction, toPassOrFail, toUnscorable } from "./outcome.ts";

type ExpectedCall = NonNullable<ScorerOf<"tool-calls">["calls"]>[number];

/** The most calls of one cell that are compared: the time is their product with the expected ones. */
const MAX_CALLS = 10_000;

/** Compares the tool calls of the cell with the expected ones. */
export function scoreToolCalls(
  { calls: own, order, arguments: mode }: ScorerOf<"tool-calls">,
  { calls, expected: ofCase }: Pick<ScoreSubject, "calls" | "expected">,
): Score {
  const expected = own ?? readExpectedCalls(ofCase);
  if (expected === undefined) return toUnscorable("The expected value is not a list of tool calls.");
  if (calls.length > MAX_CALLS) return toUnscorable(`The cell has more than ${MAX_CALLS} tool calls.`);
  const fits = (wanted: ExpectedCall, call: ScoredCall) =>
    wanted.name === call.name && matchesArguments(call.arguments, wanted.arguments, mode);
  const table = expected.map((wanted) => calls.map((call) => fits(wanted, call)));
  switch (order) {
    case "exact":
      return toPassOrFail(
        calls.length === expected.length && table.every((row, index) => row[index] === true),
        describeCalls(calls),
      );
    case "in-order":
      return toFraction(countInOrder(table, calls.length), expected.length, describeCalls(calls));
    case "any":
      return toFraction(countInAnyOrder(table), expected.length, describeCalls(calls));
  }
}

function readExpectedCalls(value: unknown): readonly ExpectedCall[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const isCall = (one: unknown): one is ExpectedCall =>
    isObject(one) &&
    typeof one["name"] === "string" &&
    (one["arguments"] === undefined || isObject(one["arguments"]));
  return value.every(isCall) ? value : undefined;
}

function matchesArguments(
  given: unknown,
  wanted: ExpectedCall["arguments"],
  mode: ScorerOf<"tool-calls">["arguments"],
): boolean {
  if (wanted === undefined || mode === "ignore") return true;
  return mode === "equal" ? isEqualJson(given, wanted) : containsJson(given, wanted);
}

type FitTable = readonly (readonly boolean[])[];

/** Returns the length of the longest list of expected calls that were made in this order. */
function countInOrder(table: FitTable, columns: number): number {
  let previous = new Uint32Array(columns + 1);
  for (const row of table) {
    const current = new Uint32Array(columns + 1);
    for (let at = 1; at <= columns; at += 1) {
      const [before, above] = [current[at - 1] as number, previous[at] as number];
      current[at] = row[at - 1] === true ? (previous[at - 1] as number) + 1 : Math.max(before, above);
    }
    previous = current;
  }
  return previous[columns] as number;
}

/**
 * Returns the largest number of expected calls to which different calls can be assigned. The first call that fits is not
 * always the right one: an expected call without arguments would take it from one with arguments.
 */
function countInAnyOrder(table: FitTable): number {
  const takenBy = new Map<number, number>();
  const assign = (wanted: number, tried: Set<number>): boolean => {
    for (const [call, isFit] of (table[wanted] ?? []).entries()) {
      if (!isFit || tried.has(call)) continue;
      tried.add(call);
      const holder = takenBy.get(call);
      if (holder === undefined || assign(holder, tried)) {
        takenBy.set(call, wanted);
        return true;
      }
    }
    return false;
  };
  return table.filter((_, wanted) => assign(wanted, new Set())).length;
}

function describeCalls(calls: readonly ScoredCall[]): string {
  return calls.length === 0 ? "No calls." : `Calls: ${calls.map(({ name }) => name).join(", ")}`;
}
