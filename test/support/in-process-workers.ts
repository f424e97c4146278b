import { NativeConnection } from "@temporalio/worker";
import { globalHandlers } from "@temporalio/worker/lib/workflow/vm-shared.js";

/**
 * Takes two costs from workers that tests make in their own process, which every later promise of that process would pay:
 *
 * - The hook that notes where each promise of a workflow was made, for Temporal's stack traces. With `debugMode` it sees all
 *   promises of the process, and compiles two functions for each.
 * - The context of a connection's calls, which Node passes on to each promise, and which the SDK leaves on when the
 *   connection is closed.
 */
export function lightenWorkers(): void {
  Object.assign(globalHandlers, { setPromiseHook: () => undefined });
  const { close } = NativeConnection.prototype;
  NativeConnection.prototype.close = async function (): Promise<void> {
    await close.call(this);
    const { callContextStorage } = this as unknown as { callContextStorage: { disable(): void } };
    callContextStorage.disable();
  };
}
