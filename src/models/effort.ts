import type { ThinkingLevel } from "../schema/model.ts";

/** Levels that every vendor supports by a word or a number. */
export type CommonLevel = Exclude<ThinkingLevel, "off" | "xhigh" | "max">;

/** Lowers the two highest levels for a model that does not support them. */
export function capAtHigh(level: Exclude<ThinkingLevel, "off">): CommonLevel {
  return level === "xhigh" || level === "max" ? "high" : level;
}
