import { UsageError } from "./usage-error.ts";

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a duration such as 90s, 30m, 12h or 7d. */
export function parseDurationMs(flag: string, text: string): number {
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (Number.isFinite(ms) && ms > 0) return ms;
  throw new UsageError(`${flag} "${text}" must be a time above 0 such as 90s, 30m, 12h or 7d`);
}
