import { getOwn } from "../../platform/text/json.ts";
import type { StopReason } from "../../schema/message.ts";
import { ProviderError } from "../provider-error.ts";
import { createBrokenStreamError, quoteVendor, type Vendor } from "../provider-error-from-response.ts";

export type Finish = {
  readonly reason: string;
  /** The vendor's own message. */
  readonly message: string | undefined;
};

const REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  // The vendor's limit for one request; its continuation token is not stored.
  CONTINUATION: "length",
  SAFETY: "guardRail",
  RECITATION: "guardRail",
  LANGUAGE: "guardRail",
  OTHER: "guardRail",
  BLOCKLIST: "guardRail",
  PROHIBITED_CONTENT: "guardRail",
  SPII: "guardRail",
  MODEL_ARMOR: "guardRail",
  IMAGE_SAFETY: "guardRail",
  IMAGE_PROHIBITED_CONTENT: "guardRail",
  IMAGE_RECITATION: "guardRail",
  IMAGE_OTHER: "guardRail",
  NO_IMAGE: "guardRail",
};

/** The model wrote a call that the vendor could not parse, and none of it arrived. A retry usually succeeds. */
const UNREADABLE_CALL_REASONS = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]);

/** Maps the vendor's reason, or throws a `ProviderError` if there is no answer. Unknown reasons count as a normal end. */
export function toStopReason(vendor: Vendor, { reason, message }: Finish): StopReason {
  const detail = `the answer ended with ${reason}${message === undefined ? "" : `: ${message}`}`;
  if (UNREADABLE_CALL_REASONS.has(reason)) throw createBrokenStreamError(vendor, detail);
  if (reason === "TOO_MANY_TOOL_CALLS") {
    throw new ProviderError("api", `${vendor.name}: ${quoteVendor(vendor, detail)}`, { vendorType: reason });
  }
  return getOwn(REASONS, reason) ?? "stop";
}
