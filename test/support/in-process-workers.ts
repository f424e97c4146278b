import { NativeConnection } from "@temporalio/worker";
import { ReusableVMWorkflowCreator } from "@temporalio/worker/lib/workflow/reusable-vm.js";
import { globalHandlers } from "@temporalio/worker/lib/workflow/vm-shared.js";

/**
 * Takes three costs from workers that tests make in their own process:
 *
 * - The hook that notes where each promise of a workflow was made, for Temporal's stack traces. With `debugMode` it sees all
 *   promises of the process, and compiles two functions for each.
 * - The context of a connection's calls, which Node passes on to each promise, and which the SDK leaves on when the
 *   connection is closed.
 * - The time limit of each call into a workflow, for which Node starts a thread, 70 microseconds each time. With `debugMode`
 *   the limit is 49 days.
 */
export function lightenWorkers(): void {
  Object.assign(globalHandlers, { setPromiseHook: () => undefined });
  const { close } = NativeConnection.prototype;
  NativeConnection.prototype.close = async function (): Promise<void> {
    await close.call(this);
    const { callContextStorage } = this as unknown as { callContextStorage: { disable(): void } };
    callContextStorage.disable();
  };
  const { create } = ReusableVMWorkflowCreator;
  const NO_LIMIT = undefined as unknown as number;
  ReusableVMWorkflowCreator.create = function (bundle, _limitMs, ...others) {
    return create.call(this, bundle, NO_LIMIT, ...others);
  } as typeof create;
}
