import type { ScoreSummary } from "../../../client/index.ts";
import { describeCost } from "../text.ts";

type ScoreType = ScoreSummary["type"];

/** Formats a score in the unit of its scorer: dollars, seconds, turns, or a plain number. */
export function formatScore(type: ScoreType, value: number | null): string {
  if (value === null) return "-";
  if (type === "cost") return value < 0 ? `-${describeCost(-value)}` : describeCost(value);
  if (type === "time") return `${(value / 1000).toFixed(1)} s`;
  return value.toFixed(type === "turns" ? 1 : 3);
}

/** Formats a mean with its interval: `0.750 [0.430, 0.930]`. */
export function formatEstimate(
  type: ScoreType,
  mean: number | null,
  interval: { readonly low: number; readonly high: number } | null,
): string {
  if (interval === null) return formatScore(type, mean);
  const { low, high } = interval;
  return `${formatScore(type, mean)} [${formatScore(type, low)}, ${formatScore(type, high)}]`;
}

/** Formats a difference with its sign. */
export function formatDifference(type: ScoreType, difference: number | null): string {
  const text = formatScore(type, difference);
  return difference !== null && difference > 0 ? `+${text}` : text;
}
