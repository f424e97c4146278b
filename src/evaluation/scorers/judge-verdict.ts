import { extractJson } from "../../platform/text/extract-json.ts";
import { asText, getField, getOwn, isObject } from "../../platform/text/json.ts";
import { isTooDeep } from "../../platform/text/json-depth.ts";
import type { Score } from "../../schema/score.ts";
import type { ScorerOf } from "../../schema/scorer.ts";

/** Reads a judge's verdict. One that leaves a point of the rubric open, or exceeds it, is unreadable: it says nothing. */
export function readVerdict({ rubric }: Pick<ScorerOf<"judge">, "rubric">, verdict: string): Score {
  if (isTooDeep(verdict)) return toUnreadable("The verdict is nested too deeply.");
  const found = extractJson(verdict, (value) => isObject(getField(value, "points")));
  if (found.type !== "found") return toUnreadable(found.reason);
  const given = getField(found.value, "points");
  if (!isObject(given)) return toUnreadable("The verdict has no points.");
  const points: [string, number][] = [];
  for (const { id, points: worth } of rubric) {
    const own = readPoints(getOwn(given, id), worth);
    if (own === undefined) {
      const value = JSON.stringify(getOwn(given, id)) ?? "nothing";
      return toUnreadable(`The verdict has ${value} for "${id}", which needs a number from 0 to ${worth}.`);
    }
    points.push([id, own]);
  }
  const explanation = asText(getField(found.value, "explanation"));
  return {
    class: "scored",
    value: sum(points.map(([, own]) => own)) / sum(rubric.map(({ points: worth }) => worth)),
    ...(explanation === undefined ? {} : { explanation }),
    points: Object.fromEntries(points),
  };
}

function readPoints(value: unknown, worth: number): number | undefined {
  if (typeof value === "boolean") return value ? worth : 0;
  return typeof value === "number" && value >= 0 && value <= worth ? value : undefined;
}

function toUnreadable(explanation: string): Score {
  return { class: "unreadable", value: null, explanation };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
