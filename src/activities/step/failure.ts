import { CancelledFailure, Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { planNextAttempt, type VendorDelay } from "../../core/machine/vendor-wait.ts";
import { ProviderError, type ProviderFault } from "../../models/provider-error.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { RetryConfig } from "../../schema/definition.ts";
import { FencedError, STORE_MAY_RECOVER, StoreError } from "../../store/transcript/store-error.ts";

// The only place where an adapter's error becomes a failure that Temporal stores. Types are wire names: pinned by
// a test. Messages are for people, bounded, and free of secrets.

/** Of a failure's message, as Temporal stores it. */
export const MAX_MESSAGE_BYTES = 1024;

/** Faults that the same request may overcome (RTY-03). */
export const VENDOR_MAY_RECOVER: Record<ProviderFault, boolean> = {
  "rate-limited": true,
  network: true,
  api: false,
  auth: false,
  overflow: false,
  cancelled: false,
  other: false,
};

/** A run that cannot begin as it was asked to: what is wrong, and with what. */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
}

/**
 * A function of an application did not do its part: which one, and how. It would do the same again.
 *
 * `context`: what a model is to see. `compaction`: how a view is made smaller. `overflow`:
 * nothing more can be left out of a context that was refused. `filters`: what may join the conversation.
 * `reducer`: what the parts of a fan-out have said together.
 */
export class ApplicationError extends Error {
  override readonly name = "ApplicationError";
  readonly fault: "context" | "compaction" | "overflow" | "filters" | "reducer";

  constructor(fault: ApplicationError["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** An output that the model of a definition cannot be held to (SO-01). */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

/**
 * @param patience - Of a step that its run waits for itself where the vendor wants to be left alone for long; others are
 *   tried again by Temporal, after no more than `retry.maxWaitMs`.
 */
export function toFailure(error: unknown, retry?: RetryConfig, budget?: RetryBudget): Error {
  const failure = translate(error, retry, budget);
  // Temporal stores a stack with every failure; ours says nothing that the type does not.
  failure.stack = `${failure.name}: ${failure.message}`;
  return failure;
}

/** What is left of a step: attempts, and milliseconds of its loop's time. */
export type RetryBudget = { readonly isLastAttempt: boolean; readonly leftMs: number };

function translate(error: unknown, retry: RetryConfig | undefined, budget?: RetryBudget): Error {
  if (error instanceof ProviderError) return fromProviderError(error, retry, budget);
  if (error instanceof StoreError)
    return buildFailure(`store/${error.fault}`, error, !STORE_MAY_RECOVER[error.fault]);
  if (error instanceof FencedError) return buildFailure("fenced", error, true);
  if (error instanceof DefinitionError) return buildFailure("definition/invalid", error, true);
  if (error instanceof ApplicationError) return buildFailure(`application/${error.fault}`, error, true);
  if (error instanceof OutputError) return buildFailure("definition/schema-mismatch", error, true);
  if (error instanceof CancelledFailure) return fromCancellation(error);
  if (error instanceof ApplicationFailure) return error;
  return buildFailure(
    "holdfast/unexpected",
    error instanceof Error ? error : new Error(String(error)),
    false,
  );
}

/** A worker that shuts down hands its work back; everybody else who cancels means the step. */
function fromCancellation(error: CancelledFailure): Error {
  if (Context.current().cancellationDetails?.workerShutdown === true || error.message === "WORKER_SHUTDOWN") {
    return ApplicationFailure.create({
      type: "handed-back",
      message: "The worker shut down",
      nonRetryable: true,
    });
  }
  return error;
}

function fromProviderError(
  error: ProviderError,
  retry: RetryConfig | undefined,
  budget?: RetryBudget,
): Error {
  if (error.fault === "cancelled") return fromCancellation(new CancelledFailure(error.message));
  const recovers = VENDOR_MAY_RECOVER[error.fault];
  const facts = { status: error.status, requestId: error.requestId, vendorType: error.vendorType };
  const details = {
    type: `provider/${error.fault}`,
    message: truncateForPreview(error.message, MAX_MESSAGE_BYTES),
  };
  if (!recovers) return ApplicationFailure.create({ ...details, nonRetryable: true, details: [facts] });
  const { attempt } = Context.current().info;
  const next = planNextAttempt(
    error.retryAfterMs,
    computeBackoff(retry, attempt),
    retry ?? {},
    budget?.leftMs,
  );
  if (next.type === "retry" || budget === undefined || budget.isLastAttempt) {
    const nextRetryDelay = next.type === "retry" ? next.delayMs : next.forMs;
    return ApplicationFailure.create({ ...details, nonRetryable: false, nextRetryDelay, details: [facts] });
  }
  const wait: VendorDelay = { forMs: next.forMs, attempts: attempt };
  return ApplicationFailure.create({ ...details, nonRetryable: true, details: [{ ...facts, wait }] });
}

/** RTY-02: exponential, capped, with a jitter of a fifth, so that many agents do not come back at once. */
export function computeBackoff(
  retry: RetryConfig | undefined,
  attempt: number,
  dice = Math.random(),
): number {
  const { initialDelayMs = 1000, backoffMultiplier = 2, maxDelayMs = 30_000 } = retry ?? {};
  const grown = Math.min(initialDelayMs * backoffMultiplier ** (attempt - 1), maxDelayMs);
  return Math.floor(grown * (0.8 + 0.4 * dice));
}

function buildFailure(type: string, error: Error, nonRetryable: boolean): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: redactPreview(error.message, MAX_MESSAGE_BYTES),
    nonRetryable,
  });
}
