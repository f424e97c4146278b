import { CancelledFailure, Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { VendorDelay } from "../../core/machine/state/run-event.ts";
import { planNextAttempt } from "../../core/machine/vendor-wait.ts";
import { ProviderError, type ProviderFault } from "../../models/provider-error.ts";
import { computePauseMs } from "../../platform/async/back-off.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { RetryConfig } from "../../schema/recovery.ts";
import { FencedError, STORE_MAY_RECOVER, StoreError } from "../../store/transcript/store-error.ts";

// The only place where an adapter's error becomes a failure that Temporal stores. The types are wire names, which a
// test pins. The messages are for users and operators, bounded, and without secrets.

/** The most bytes of a failure's message, as Temporal stores it. */
export const MAX_MESSAGE_BYTES = 1024;

/** Whether the same request may succeed after this fault (RTY-03). */
export const VENDOR_MAY_RECOVER: Record<ProviderFault, boolean> = {
  "rate-limited": true,
  network: true,
  api: false,
  auth: false,
  overflow: false,
  cancelled: false,
  other: false,
};

/** A run that cannot begin with its input: the problem, and the part of the input that has it. */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
}

/**
 * A function of an application failed: which one, and how. A repetition would fail too.
 *
 * `context`: what a model sees. `compaction`: how a view is made smaller. `overflow`: nothing more can be left out of
 * a rejected context. `filters`: what may join the conversation. `reducer`: the combined outputs of a fan-out's parts.
 */
export class ApplicationError extends Error {
  override readonly name = "ApplicationError";
  readonly fault: "context" | "compaction" | "overflow" | "filters" | "reducer";

  constructor(fault: ApplicationError["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** A step that this worker gives back before its work begins. The run dispatches it again, as after a shutdown. */
export class NotBegunError extends Error {
  override readonly name = "NotBegunError";
}

/** An output that the definition's model does not support (SO-01). */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

/**
 * Converts an error to a failure for Temporal.
 *
 * @param budget - Of a step whose run waits itself when the vendor asks for a long wait. Temporal retries other steps,
 * after no more than `retry.maxWaitMs`.
 */
export function toFailure(error: unknown, retry?: RetryConfig, budget?: RetryBudget): Error {
  const failure = translate(error, retry, budget);
  // Temporal stores a stack with every failure; this one says nothing that the type does not.
  failure.stack = `${failure.name}: ${failure.message}`;
  return failure;
}

/** The remaining attempts of a step, and the remaining milliseconds of its loop. */
export type RetryBudget = { readonly isLastAttempt: boolean; readonly leftMs: number };

function translate(error: unknown, retry: RetryConfig | undefined, budget?: RetryBudget): Error {
  if (error instanceof ProviderError) return fromProviderError(error, retry, budget);
  if (error instanceof StoreError)
    return buildFailure(`store/${error.fault}`, error, !STORE_MAY_RECOVER[error.fault]);
  if (error instanceof FencedError) return buildFailure("fenced", error, true);
  if (error instanceof NotBegunError) return buildFailure("released", error, true);
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

/** Converts a cancellation: a worker that shuts down releases its step; any other cancellation cancels the step. */
function fromCancellation(error: CancelledFailure): Error {
  if (Context.current().cancellationDetails?.workerShutdown === true || error.message === "WORKER_SHUTDOWN") {
    return ApplicationFailure.create({
      type: "released",
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

/**
 * Computes the back-off (RTY-02): exponential, capped, with a jitter of a fifth, so that many agents do not retry at
 * the same moment.
 */
export function computeBackoff(
  retry: RetryConfig | undefined,
  attempt: number,
  dice = Math.random(),
): number {
  const { initialDelayMs = 1000, backoffMultiplier = 2, maxDelayMs = 30_000 } = retry ?? {};
  const backOff = { firstMs: initialDelayMs, longestMs: maxDelayMs, factor: backoffMultiplier };
  return Math.floor(computePauseMs(backOff, attempt) * (0.8 + 0.4 * dice));
}

function buildFailure(type: string, error: Error, nonRetryable: boolean): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: redactPreview(error.message, MAX_MESSAGE_BYTES),
    nonRetryable,
  });
}
