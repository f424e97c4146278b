import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { getHeader, type ResponseHeaders } from "../retry-after.ts";
import { parseTimestampMs } from "./parse-time.ts";
import type { LimitUnit, RateLimit, RateLimits } from "./rate-limits.ts";

/** A `Date` header has whole seconds: a smaller difference between clocks is meaningless. */
const MIN_SKEW_MS = 2000;

/** No vendor reports more. */
const MAX_LIMITS = 16;

type Field = "limit" | "remaining" | "reset";

/** `anthropic-ratelimit-input-tokens-remaining` */
const ANTHROPIC = /^anthropic-ratelimit-(.+)-(limit|remaining|reset)$/;
/** `x-ratelimit-remaining-tokens`, `x-ratelimit-reset-requests-day`, `ratelimit-remaining`, and the same without a name. */
const COMMON = /^(?:x-)?ratelimit-(limit|remaining|reset)(?:-(.+))?$/;
/** `x-tokenlimit-remaining` */
const TOKENLIMIT = /^x-tokenlimit-(limit|remaining|reset)$/;

/** Reads the remaining allowances from the headers of any answer. Empty if there are none. */
export function readRateLimits(headers: ResponseHeaders, nowMs: number): RateLimits {
  const read = new Map<string, RateLimit>();
  const skewMs = getClockSkewMs(headers, nowMs);
  for (const header of Object.keys(headers)) {
    const parsed = parseHeaderName(header);
    const text = parsed === undefined ? undefined : getHeader(headers, header);
    if (parsed === undefined || text === undefined) continue;
    const before = read.get(parsed.name) ?? { name: parsed.name, unit: toUnit(parsed.name) };
    const value = parsed.field === "reset" ? parseTimestampMs(text, nowMs, skewMs) : parseCount(text);
    if (value === undefined) continue;
    read.set(parsed.name, { ...before, [parsed.field === "reset" ? "resetAtMs" : parsed.field]: value });
  }
  const limits = [...read.values(), ...readStructuredHeader(getHeader(headers, "ratelimit"), headers, nowMs)];
  return limits.slice(0, MAX_LIMITS);
}

function parseHeaderName(header: string): { readonly name: string; readonly field: Field } | undefined {
  const own = ANTHROPIC.exec(header);
  if (own !== null) return { name: own[1] ?? "", field: own[2] as Field };
  const tokens = TOKENLIMIT.exec(header);
  if (tokens !== null) return { name: "tokens", field: tokens[1] as Field };
  const common = COMMON.exec(header);
  return common === null ? undefined : { name: common[2] ?? "requests", field: common[1] as Field };
}

function toUnit(name: string): LimitUnit {
  if (!name.includes("token")) return "requests";
  if (name.includes("input")) return "inputTokens";
  return name.includes("output") ? "outputTokens" : "tokens";
}

/** Parses a count, or the first number of a list such as `100, 100;w=60`. */
function parseCount(text: string): number | undefined {
  const [number] = /^\s*-?\d+(\.\d+)?/.exec(text) ?? [];
  return number === undefined ? undefined : Math.max(0, Math.floor(Number(number)));
}

/**
 * Reads the header of the IETF drafts: `limit=100, remaining=50, reset=5`, and the newer `"default";r=50;t=30` with
 * `ratelimit-policy: "default";q=100;w=60`.
 */
function readStructuredHeader(text: string | undefined, headers: ResponseHeaders, nowMs: number): RateLimits {
  if (text === undefined) return [];
  const named = (list: string, key: string) => {
    const [, number] = new RegExp(`(?:^|[;,\\s])${key}=(\\d+)`).exec(list) ?? [];
    return number === undefined ? undefined : Number(number);
  };
  const policies = (getHeader(headers, "ratelimit-policy") ?? "").split(",");
  const older = named(text, "remaining");
  const parts = older === undefined ? text.split(",") : [text];
  return parts.flatMap((part) => {
    const name = /^\s*"?([\w-]+)"?\s*;/.exec(part)?.[1] ?? "requests";
    const policy = policies.find((one) => one.trim().replace(/^"/, "").startsWith(name)) ?? "";
    const remaining = older ?? named(part, "r");
    const seconds = named(part, older === undefined ? "t" : "reset");
    const limit = named(part, "limit") ?? named(policy, "q");
    if (remaining === undefined) return [];
    return [
      {
        name,
        unit: toUnit(name),
        remaining,
        ...omitUndefined({ limit }),
        ...(seconds === undefined ? {} : { resetAtMs: nowMs + seconds * 1000 }),
      },
    ];
  });
}

function getClockSkewMs(headers: ResponseHeaders, nowMs: number): number {
  const date = Date.parse(getHeader(headers, "date") ?? "");
  const skew = nowMs - date;
  return Number.isNaN(skew) || Math.abs(skew) < MIN_SKEW_MS ? 0 : skew;
}
