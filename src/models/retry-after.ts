export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export function getHeader(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

/**
 * Parses the vendor's delay, in milliseconds: `retry-after-ms`, then `retry-after` in seconds or as an
 * HTTP date. Ignores the `x-ratelimit-reset` family: it tells when some window ends, not when to retry.
 */
export function parseRetryAfterMs(headers: ResponseHeaders, now: number): number | undefined {
  const milliseconds = Number.parseFloat(getHeader(headers, "retry-after-ms") ?? "");
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return Math.ceil(milliseconds);
  const given = getHeader(headers, "retry-after")?.trim();
  if (given === undefined || given === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(given)) return Math.ceil(Number(given) * 1000);
  // `Date.parse` accepts "-5" as a date.
  const date = /^[A-Za-z]{3,}, |^\d{4}-\d{2}-\d{2}T/.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
