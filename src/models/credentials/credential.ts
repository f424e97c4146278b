/** A value and how long it holds. */
export type Fetched = {
  readonly value: string;
  /** Unix milliseconds. Absent: nobody knows. */
  readonly expiresAtMs?: number | undefined;
};

/** One value that must be fetched before it can be read. */
export interface FetchedCredential {
  /** What was fetched last. */
  readonly value: string | undefined;
  /** Sees to it that the value is one that holds at this moment. Rejects with a `ProviderError`. */
  prepare(): Promise<void>;
  /** @param refused - What a vendor has not taken. Kept is what was fetched anew since. */
  forget(refused: string | undefined): void;
}

/** Numbers below this are seconds since 1970, others milliseconds. */
const MILLISECONDS_FROM = 1e11;

/** `{"value": "…", "expiresAt": "2026-11-22T10:00:00Z"}`, seconds or milliseconds; any other text is the value itself. */
export function readFetched(text: string): Fetched {
  const value = text.trim();
  if (!value.startsWith("{")) return { value };
  const said = objectIn(value);
  if (typeof said?.["value"] !== "string") return { value };
  return { value: said["value"].trim(), expiresAtMs: momentOf(said["expiresAt"]) };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function momentOf(said: unknown): number | undefined {
  if (typeof said === "number" && said > 0) return said < MILLISECONDS_FROM ? said * 1000 : said;
  const moment = typeof said === "string" ? Date.parse(said) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}
