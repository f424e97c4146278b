import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { Mask } from "../models/secret-masks.ts";
import type { Logger } from "../platform/log.ts";

// Masking of what leaves a worker besides its results: logs, and failures that Temporal stores.

/** Logged values are nested no deeper. */
const MAX_DEPTH = 6;

/** What a logger of pino has: masking a line that is not written would be wasted. */
type LeveledLogger = Logger & { readonly isLevelEnabled?: (level: string) => boolean };

/**
 * Creates a log that masks its messages and fields.
 *
 * @param createMask - Called for each line that is written.
 */
export function createMaskedLog(log: LeveledLogger, createMask: () => Mask): Logger {
  const write =
    (level: keyof Logger) =>
    (...args: readonly unknown[]): void => {
      if (log.isLevelEnabled?.(level) === false) return;
      const mask = createMask();
      (log[level] as (...args: readonly unknown[]) => void).call(
        log,
        ...args.map((arg) => maskValue(arg, mask, MAX_DEPTH)),
      );
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** Masks failures of activities on their way to the server: messages, stacks, details, and their causes. */
export function createFailureMasking(mask: Mask): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      execute: async (input, next) => {
        try {
          return await next(input);
        } catch (error) {
          maskError(error, mask);
          throw error;
        }
      },
    },
  });
}

/** Masks in place: a thrown error must keep its identity, and a cause may be its own cause. */
function maskError(error: unknown, mask: Mask, seen = new Set<unknown>()): void {
  if (!(error instanceof Error) || seen.has(error)) return;
  seen.add(error);
  error.message = mask(error.message);
  if (error.stack !== undefined) error.stack = mask(error.stack);
  if (error instanceof ApplicationFailure && error.details != null) {
    const details = error.details.map((detail) => maskValue(detail, mask, MAX_DEPTH));
    Object.defineProperty(error, "details", { value: details, configurable: true, writable: true });
  }
  maskError(error.cause, mask, seen);
}

function maskValue(value: unknown, mask: Mask, depth: number): unknown {
  if (typeof value === "string") return mask(value);
  if (value instanceof Error) {
    maskError(value, mask);
    return value;
  }
  if (depth === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask, depth - 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, maskValue(item, mask, depth - 1)]),
  );
}
