import { Context } from "@temporalio/activity";
import type { StepWait } from "../../conversation/waits.ts";
import type { StoreError } from "../../store/transcript/store-error.ts";

// What an activity waits for at the store, for its heartbeat. Several reads of one activity may wait at once.

type Waiting = { reads: number; readonly wait: StepWait };
const waitingBy = new WeakMap<Context, Waiting>();

/** Gives the way to end the wait. Outside of an activity nobody is told. */
export function noteStoreWait({ fault }: StoreError): () => void {
  const context = currentContext();
  if (context === undefined) return () => undefined;
  const waiting = waitingBy.get(context) ?? { reads: 0, wait: { for: "store", fault, sinceMs: Date.now() } };
  waiting.reads += 1;
  waitingBy.set(context, waiting);
  return () => {
    waiting.reads -= 1;
    if (waiting.reads === 0) waitingBy.delete(context);
  };
}

export function storeWaitOf(context: Context): { readonly waits?: StepWait } {
  const waiting = waitingBy.get(context);
  return waiting === undefined ? {} : { waits: waiting.wait };
}

export function currentContext(): Context | undefined {
  try {
    return Context.current();
  } catch {
    return undefined;
  }
}
