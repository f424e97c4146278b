import { type JsonObject, listOf, objectOf, textOf } from "./json.ts";

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

/**
 * The delay that the vendor asked for, in milliseconds: `retry-after-ms`, then `retry-after` in seconds or as an
 * HTTP date. The `x-ratelimit-reset` family is left alone: it says when some window ends, not when to ask again.
 */
export function retryAfterMs(headers: ResponseHeaders, now: number): number | undefined {
  const milliseconds = Number.parseFloat(headerOf(headers, "retry-after-ms") ?? "");
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return Math.ceil(milliseconds);
  const given = headerOf(headers, "retry-after")?.trim();
  if (given === undefined || given === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(given)) return Math.ceil(Number(given) * 1000);
  const date = Date.parse(given);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The delay that Google asks for, within its error: `RetryInfo` with a `retryDelay` such as "34.4s". */
export function retryInfoMs(error: JsonObject | undefined): number | undefined {
  const delays = listOf(error?.["details"])
    .map(objectOf)
    .filter((detail) => textOf(detail?.["@type"])?.endsWith("google.rpc.RetryInfo"))
    .map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(textOf(detail?.["retryDelay"]) ?? "")?.[1]);
  const seconds = delays.find((delay) => delay !== undefined);
  // Rounded first: 34.4 s are 34,400 ms, and not one more for the sake of binary fractions.
  return seconds === undefined ? undefined : Math.ceil(Number((Number(seconds) * 1000).toFixed(3)));
}
