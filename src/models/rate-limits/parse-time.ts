const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const DURATION_PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** From here on a number is a moment, in seconds or in milliseconds since 1970, and no delay. */
const MIN_EPOCH_SECONDS = 1e9;
const MIN_EPOCH_MS = 1e12;

/** `6m0s`, `7.66s`, `20ms`, `1d2h`, in milliseconds. */
export function parseDurationMs(text: string): number | undefined {
  const given = text.trim();
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(given)) return undefined;
  let total = 0;
  for (const [, amount, unit] of given.matchAll(DURATION_PART))
    total += Number(amount) * (UNITS_MS[unit ?? ""] ?? 0);
  // Rounded first: 34.4 s are 34,400 ms, and not one more for the sake of binary fractions.
  return Math.ceil(Number(total.toFixed(3)));
}

/**
 * The moment that a header names: as a duration, as a number of seconds from now, as seconds or milliseconds since 1970,
 * or as a date.
 *
 * @param skewMs - By how much the clock here is ahead of the vendor's: what it says in its own time is told in ours.
 */
export function parseTimestampMs(text: string, nowMs: number, skewMs: number): number | undefined {
  const given = text.trim();
  const duration = parseDurationMs(given);
  if (duration !== undefined) return nowMs + duration;
  if (/^\d+(\.\d+)?$/.test(given)) {
    const number = Number(given);
    if (number < MIN_EPOCH_SECONDS) return nowMs + Math.ceil(number * 1000);
    return (number < MIN_EPOCH_MS ? Math.ceil(number * 1000) : number) + skewMs;
  }
  // Anything that is no date of a century would be taken for one by the lenient parser.
  const date = /^\d{4}-\d\d-\d\dT|^[A-Z][a-z]{2}, /.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(date) ? undefined : date + skewMs;
}
