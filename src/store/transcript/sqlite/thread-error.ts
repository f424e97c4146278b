import { FencedError, StoreError, type StoreFault } from "../store-error.ts";

/** An error in a message between threads, which does not preserve classes. */
export type ThreadFailure = {
  readonly type: "fenced" | "store" | "bug";
  readonly fault?: StoreFault;
  readonly message: string;
  readonly stack?: string | undefined;
};

export function toThreadFailure(error: unknown): ThreadFailure {
  if (error instanceof FencedError) return { type: "fenced", message: error.message };
  if (error instanceof StoreError) return { type: "store", fault: error.fault, message: error.message };
  if (error instanceof Error) return { type: "bug", message: error.message, stack: error.stack };
  return { type: "bug", message: String(error) };
}

export function toError(failure: ThreadFailure): Error {
  switch (failure.type) {
    case "fenced":
      return new FencedError(failure.message);
    case "store":
      return new StoreError(failure.fault ?? "other", failure.message);
    case "bug": {
      const error = new Error(failure.message);
      if (failure.stack !== undefined) error.stack = failure.stack;
      return error;
    }
  }
}
