import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { AssistantMessage } from "../schema/message.ts";
import type { ModelDelta } from "./provider.ts";
import { createBrokenStreamError, type Vendor } from "./provider-error-from-response.ts";
import type { ServerEvent } from "./stream-format.ts";

/** Assembles one answer from its events. Pure: no clock, no network. */
export interface Assembler {
  /** Processes one event and returns what it added. Throws a `ProviderError` when the event is an error. */
  push(event: ServerEvent): readonly ModelDelta[];
  /** `complete`: nothing is missing, though more events may follow. `ended`: nothing follows. */
  readonly state: "open" | "complete" | "ended";
  /** Returns the whole answer. Throws a `ProviderError` while it is incomplete. */
  finish(): AssistantMessage;
}

/** The metadata of an answer, and the vendor for its errors. */
export type AnswerContext = {
  readonly model: string;
  readonly provider: string;
  readonly timestamp: number;
  readonly vendor: Vendor;
  readonly requestId?: string | undefined;
};

/** What an assembler has read of an answer. */
export type AssembledAnswer = Pick<AssistantMessage, "content" | "stopReason" | "usage"> & {
  readonly errorMessage?: string | undefined;
  readonly responseId?: string | undefined;
  readonly serviceTier?: string | undefined;
};

/** Builds the message of a complete answer. */
export function buildAnswer(
  { model, provider, timestamp }: AnswerContext,
  { content, stopReason, usage, ...optional }: AssembledAnswer,
): AssistantMessage {
  const { errorMessage, responseId, serviceTier } = optional;
  return {
    role: "assistant",
    content,
    stopReason,
    model,
    provider,
    usage,
    timestamp,
    ...omitUndefined({ errorMessage, responseId, serviceTier }),
  };
}

/** @throws ProviderError - If the answer is incomplete. */
export function assertComplete({ state }: Pick<Assembler, "state">, { vendor }: AnswerContext): void {
  if (state === "open")
    throw createBrokenStreamError(vendor, "the stream ended before the answer was complete");
}
