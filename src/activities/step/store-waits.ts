import { Context } from "@temporalio/activity";
import type { StepWait } from "../../conversation/step-wait.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { StoreError } from "../../store/transcript/store-error.ts";

// The waits of an activity for the store, for its heartbeat. Several reads of one activity may wait at once.

type StoreWaitCount = { reads: number; readonly wait: StepWait };
const waitByContext = new WeakMap<Context, StoreWaitCount>();

/** Records a wait, and returns a function that ends it. Outside of an activity nothing is recorded. */
export function noteStoreWait({ fault }: StoreError): () => void {
  const context = getCurrentContext();
  if (context === undefined) return () => undefined;
  const waiting = waitByContext.get(context) ?? {
    reads: 0,
    wait: { type: "store", fault, sinceMs: Date.now() },
  };
  waiting.reads += 1;
  waitByContext.set(context, waiting);
  return () => {
    waiting.reads -= 1;
    if (waiting.reads === 0) waitByContext.delete(context);
  };
}

export function getStoreWait(context: Context): { readonly wait?: StepWait } {
  const waiting = waitByContext.get(context);
  return omitUndefined({ wait: waiting?.wait });
}

export function getCurrentContext(): Context | undefined {
  try {
    return Context.current();
  } catch {
    return undefined;
  }
}
