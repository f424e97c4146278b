import type { ThinkingLevel } from "../schema/model.ts";

/** Levels that every vendor has a word or a number for. */
export type CommonLevel = Exclude<ThinkingLevel, "off" | "xhigh" | "max">;

/** The two highest, to a model that does not know them. */
export function capAtHigh(level: Exclude<ThinkingLevel, "off">): CommonLevel {
  return level === "xhigh" || level === "max" ? "high" : level;
}
