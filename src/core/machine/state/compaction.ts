import type { CompactDigest } from "./digest.ts";

// Why a context is made smaller, and what is counted of it.

/** Why a view is made smaller: it has reached its bound, a user asked, or the vendor reported that it does not fit. */
export type CompactionReason =
  | { readonly type: "size" }
  | { readonly type: "request"; readonly focus?: string }
  | { readonly type: "overflow"; readonly said: string };

export type CompactionCounts = Pick<
  CompactDigest,
  "messagesBefore" | "messagesAfter" | "tokensBefore" | "tokensAfter"
>;

/** The size of a context as a vendor counted it, and our estimate of the same messages. */
export type ReportedSize = { readonly tokens: number; readonly estimated: number };
