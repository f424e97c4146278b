import { CancellationScope, patched, sleep } from "@temporalio/workflow";
import { listPendingApprovals, type PendingApproval } from "../core/machine/approvals.ts";
import type { State } from "../core/machine/state/state.ts";
import { truncateForPreview } from "../platform/text/preview.ts";

/** The marker of runs that have these timers. Only a run in which a call waits for the user gets it. */
const MARKER = "approval-timers";

/** The end of a bar whose call waits without a limit. A longer wait continues without a bar. */
const LONGEST_BAR_MS = 365 * 24 * 3600 * 1000;

/** The server accepts 400 bytes of JSON. */
const SUMMARY_BYTES = 120;

/**
 * Keeps a timer open for each call that waits for the user, because the Temporal UI displays a timer as a bar with its
 * summary. Nothing waits for these timers. A call that began to wait under an earlier release has none.
 */
export function createApprovalTimers(): (state: State) => void {
  const timers = new Map<string, CancellationScope | undefined>();
  return (state) => {
    const pending = listPendingApprovals(state);
    for (const [call, scope] of timers) {
      if (pending.some(({ toolCallId }) => toolCallId === call)) continue;
      scope?.cancel();
      timers.delete(call);
    }
    for (const approval of pending) {
      if (timers.has(approval.toolCallId)) continue;
      timers.set(approval.toolCallId, patched(MARKER) ? startTimer(approval, state.nowMs) : undefined);
    }
  };
}

function startTimer(
  { tool, summary, questionRef, untilMs }: PendingApproval,
  nowMs: number,
): CancellationScope {
  const scope = new CancellationScope({ cancellable: true });
  const kind = questionRef === undefined ? "approval" : "question";
  const label = truncateForPreview(`${kind}: ${tool} ${summary}`.trim(), SUMMARY_BYTES);
  const durationMs = untilMs === undefined ? LONGEST_BAR_MS : Math.max(1, untilMs - nowMs);
  void scope.run(() => sleep(durationMs, { summary: label })).catch(() => undefined);
  return scope;
}
