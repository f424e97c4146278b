const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const DURATION_PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Larger numbers are a time, in seconds or in milliseconds since 1970, not a delay. */
const MIN_EPOCH_SECONDS = 1e9;
const MIN_EPOCH_MS = 1e12;

/** Parses `6m0s`, `7.66s`, `20ms`, `1d2h` to milliseconds. */
export function parseDurationMs(text: string): number | undefined {
  const given = text.trim();
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(given)) return undefined;
  let total = 0;
  for (const [, amount, unit] of given.matchAll(DURATION_PART))
    total += Number(amount) * (UNITS_MS[unit ?? ""] ?? 0);
  // Rounded first: 34.4 s are 34,400 ms, and not one more because of binary fractions.
  return Math.ceil(Number(total.toFixed(3)));
}

/**
 * Parses the time in a header: a duration, a number of seconds from now, seconds or milliseconds since 1970,
 * or a date.
 *
 * @param skewMs - How far the local clock is ahead of the vendor's. Times of the vendor are converted to local time.
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
  // The lenient parser reads a date into almost anything, so the text must look like one of this century.
  const date = /^\d{4}-\d\d-\d\dT|^[A-Z][a-z]{2}, /.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(date) ? undefined : date + skewMs;
}
