import type { Score } from "../../schema/score.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { toUnscorable } from "./outcome.ts";

/** Returns the cost of the cell in dollars. */
export function scoreCost({ max }: ScorerOf<"cost">, { costUsd }: Pick<ScoreSubject, "costUsd">): Score {
  return costUsd === null ? toUnscorable("The price of a model is unknown.") : toMeasure(costUsd, max);
}

/** Returns the number of turns of the cell. */
export function scoreTurns({ max }: ScorerOf<"turns">, { turns }: Pick<ScoreSubject, "turns">): Score {
  return toMeasure(turns, max);
}

/** Returns the time of the cell in milliseconds. */
export function scoreTime(
  { max }: ScorerOf<"time">,
  { durationMs }: Pick<ScoreSubject, "durationMs">,
): Score {
  return toMeasure(durationMs, max);
}

function toMeasure(value: number, max: number | undefined): Score {
  return { class: "scored", value, ...(max === undefined ? {} : { passed: value <= max }) };
}
