import { asObject, parseJson } from "../../platform/text/json.ts";

/** A value and its expiry. */
export type FetchedValue = {
  readonly value: string;
  /** Unix milliseconds. Absent: unknown. */
  readonly expiresAtMs?: number | undefined;
};

/** One value that must be fetched before it can be read. */
export interface FetchedCredential {
  /** The value that was fetched last. */
  readonly value: string | undefined;
  /** Ensures that the value is valid at this moment. Rejects with a `ProviderError`. */
  prepare(): Promise<void>;
  /** @param refused - The value that a vendor rejected. A value that was fetched since then is retained. */
  invalidate(refused: string | undefined): void;
}

/** Numbers below this are seconds since 1970, others milliseconds. */
const MIN_EPOCH_MS = 1e11;

/** Parses `{"value": "…", "expiresAt": "2026-11-22T10:00:00Z"}`, seconds or milliseconds; other text is the value. */
export function parseFetchedValue(text: string): FetchedValue {
  const value = text.trim();
  if (!value.startsWith("{")) return { value };
  const fields = asObject(parseJson(value));
  if (typeof fields?.["value"] !== "string") return { value };
  return { value: fields["value"].trim(), expiresAtMs: parseTimestamp(fields["expiresAt"]) };
}

function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === "number" && value > 0) return value < MIN_EPOCH_MS ? value * 1000 : value;
  const moment = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}
