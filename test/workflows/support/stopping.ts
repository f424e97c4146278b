import type { WorkflowHandle } from "@temporalio/client";
import type { RunStatus } from "../../../src/core/machine/status.ts";
import { stopSignal } from "../../../src/workflows/messages.ts";
import type { TestEnvironment } from "./test-environment.ts";

type Handle = Pick<WorkflowHandle, "signal" | "cancel">;

/** The ways to end a run: by Holdfast, and by an operator in the Temporal UI. */
export const STOP_METHODS: readonly (readonly [
  string,
  (run: { readonly handle: Handle }) => Promise<unknown>,
])[] = [
  ["the stop signal", ({ handle }) => handle.signal(stopSignal, "by request")],
  ["Temporal's cancel", ({ handle }) => handle.cancel()],
];

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle["fetchHistory"]>>["events"]>[number];

/** From the stop request to the end of the run, by the server's clock. */
export async function measureStopMs(stage: TestEnvironment, id: string): Promise<number> {
  const { events = [] } = await stage.client.workflow.getHandle(id).fetchHistory();
  const stopRequest = events?.find(isStopRequest);
  const last = events?.at(-1);
  if (stopRequest === undefined || last === undefined) throw new Error(`nobody has told ${id} to end`);
  return getTimeMs(last) - getTimeMs(stopRequest);
}

function isStopRequest(event: HistoryEvent): boolean {
  const { workflowExecutionSignaledEventAttributes: signal } = event;
  return signal?.signalName === "stop" || event.workflowExecutionCancelRequestedEventAttributes != null;
}

function getTimeMs({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + Number(eventTime?.nanos ?? 0) / 1e6;
}

/** Open runs that a run has started, and those that they have started. */
export async function listOpenDescendants(stage: TestEnvironment, id: string): Promise<readonly string[]> {
  const { events } = await stage.client.workflow.getHandle(id).fetchHistory();
  const started = (events ?? []).flatMap(
    ({ childWorkflowExecutionStartedEventAttributes: child }) => child?.workflowExecution?.workflowId ?? [],
  );
  const open = await Promise.all(
    started.map(async (child) => {
      const { closeTime } = await stage.client.workflow.getHandle(child).describe();
      return [...(closeTime === undefined ? [child] : []), ...(await listOpenDescendants(stage, child))];
    }),
  );
  return open.flat();
}

/** Whether a worker has started an activity of this type. */
export async function isActivityRunning(stage: TestEnvironment, id: string, type: string): Promise<boolean> {
  const { raw } = await stage.client.workflow.getHandle(id).describe();
  return (raw.pendingActivities ?? []).some(
    (activity) => activity.activityType?.name === type && activity.lastStartedTime != null,
  );
}

/** Whether a run itself waits to call its vendor again: no activity of it is pending then. */
export function isWaitingForVendor({ statusText }: RunStatus): boolean {
  return /^waiting until \S+ before .* is called again/.test(statusText ?? "");
}
