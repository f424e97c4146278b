import type { SuiteRun, SuiteRunStatus } from "../../../client/index.ts";
import { hasEnded } from "../../../client/suites/suite-run.ts";
import type { Context } from "../context.ts";
import { handleInterrupts } from "../interrupts.ts";
import { ProgressLine } from "./progress-line.ts";
import { ScoreWatch } from "./score-watch.ts";
import { formatProgress, ProgressMeter } from "./suite-progress.ts";

/** With `--json`, a line of progress is printed this often. */
const JSON_INTERVAL_MS = 5000;

/**
 * Displays the progress of a run until it has ended.
 *
 * @param onInterrupt - What the first Ctrl-C does; a second one leaves at once.
 * @returns The status at the end, or undefined if the user has left.
 * @throws HoldfastError If the workflow of the run has failed or is gone, and the run has not ended.
 */
export async function followSuite(
  context: Context,
  run: SuiteRun,
  onInterrupt: "stop" | "leave",
): Promise<SuiteRunStatus | undefined> {
  const leave = new AbortController();
  const line = new ProgressLine(context);
  const off = handleInterrupts(
    context.streams.signals,
    () => {
      if (onInterrupt === "leave") {
        leave.abort();
        return;
      }
      context.report(context.err.yellow("Stopping the run … Press Ctrl-C again to exit."));
      run.stop("interrupted at the terminal").catch((error: Error) => context.report(error.message));
    },
    () => leave.abort(),
  );
  const lost = new AbortController();
  const end = run.result({ signal: leave.signal }).then(
    () => undefined,
    (error: unknown) => error,
  );
  void end.then((error) => (error === undefined ? undefined : lost.abort()));
  const scores = new ScoreWatch(run);
  try {
    await showProgress(context, run, { line, scores, signal: AbortSignal.any([leave.signal, lost.signal]) });
    if (leave.signal.aborted) return undefined;
    // The workflow ends a moment after it has stored its end: a worker that this command has started must not stop before.
    const error = await end;
    const status = await run.status();
    if (error !== undefined && !hasEnded(status)) throw error;
    return status;
  } finally {
    line.end();
    off();
  }
}

type Display = { readonly line: ProgressLine; readonly scores: ScoreWatch; readonly signal: AbortSignal };

async function showProgress(
  context: Context,
  run: SuiteRun,
  { line, scores, signal }: Display,
): Promise<void> {
  const meter = new ProgressMeter();
  let printedAtMs = 0;
  let before: string | undefined;
  for await (const status of run.watch({ signal })) {
    const nowMs = Date.now();
    const isFirst = before === undefined;
    const isChanged = before !== status.status;
    before = status.status;
    if (!isFirst && !hasEnded(status)) scores.refresh(nowMs);
    const progress = meter.measure(status, nowMs, scores.latest);
    if (!context.json) line.show(formatProgress(progress), nowMs, isChanged);
    else if (isChanged || nowMs - printedAtMs >= JSON_INTERVAL_MS) {
      context.printJson({ type: "progress", run: run.id, ...progress });
      printedAtMs = nowMs;
    }
  }
}
