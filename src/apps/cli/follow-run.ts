import type { Holdfast, RunResult, Session, WaitingCall } from "../../client/index.ts";
import { isLiveOutput } from "../../client/read/live-events.ts";
import { type RunSummary, readRunSummary } from "../../client/runs/run-summary.ts";
import { getCallKey } from "./approval-dialog.ts";
import { ApprovalPoller } from "./approval-poller.ts";
import { formatWaitingCall } from "./approval-view.ts";
import type { Context } from "./context.ts";
import { EXIT, OUTCOME_EXIT_CODES } from "./exit-codes.ts";
import { handleInterrupts } from "./interrupts.ts";
import type { LocalStack } from "./local-stack.ts";
import { print } from "./output.ts";
import { stripControls } from "./palette.ts";
import { Renderer } from "./render.ts";
import { RunApprovals } from "./run-approvals.ts";
import { detectImageProtocol } from "./terminal-image.ts";
import { describeOutcome, describeTotals } from "./text.ts";

export type FollowOptions = {
  /** The prompt that the user just typed, which is not displayed again. */
  readonly prompt?: string;
  /** `stream`: standard output gets everything; otherwise only the run's answer, or its structured output as JSON. */
  readonly output?: "stream" | "answer" | "json";
  readonly isQuiet?: boolean;
  /** Whether calls that wait for approval are asked about at this terminal. */
  readonly asks?: boolean;
};

/** Displays a run until it ends, and returns the exit code. */
export async function followRun(
  context: Context,
  stack: LocalStack,
  session: Session,
  { prompt = "", output = "stream", isQuiet = false, asks = false }: FollowOptions = {},
): Promise<number> {
  const { streams } = context;
  // At a terminal the answer is displayed as it is written, and is not printed again.
  const isSplit = output === "json" || (output === "answer" && (isQuiet || streams.stdout.isTTY !== true));
  const leave = new AbortController();
  const off = handleInterrupts(
    streams.signals,
    () => {
      context.report(context.err.yellow("\nStopping the run … Press Ctrl-C again to exit."));
      session.stop("interrupted at the terminal").catch((error: Error) => context.report(error.message));
    },
    () => leave.abort(),
  );
  const renderer = new Renderer({
    write: (text) => print(isSplit ? streams.stderr : streams.stdout, text),
    paint: isSplit ? context.err : context.out,
    ownPrompts: new Set([prompt]),
    images: isSplit ? undefined : detectImageProtocol(streams.stdout, streams.env),
  });
  const endLine = (): void => renderer.endLine();
  const approvals = asks
    ? new RunApprovals({ context, holdfast: stack.holdfast, session, endLine })
    : new ApprovalPoller(() => session.approvals.list(), createAnnouncer(context, endLine));
  approvals.start();
  try {
    const result = session.tryResult({ signal: leave.signal });
    result.catch(() => undefined);
    for await (const item of session.events({ signal: leave.signal })) {
      if (context.json) context.printEvent(item);
      else if (!isQuiet) renderer.show(item.event);
      if (!isLiveOutput(item.event)) approvals.poll();
    }
    renderer.endLine();
    if (leave.signal.aborted) {
      context.report(context.err.yellow(formatLeftRunning(session, stack)));
      return EXIT.interrupted;
    }
    const concluded = await result;
    if (isSplit && !context.json) printAnswer(context, concluded, output);
    return await reportResult(context, stack.holdfast, session, concluded, isQuiet);
  } finally {
    approvals.stop();
    off();
  }
}

/** Prints the answer, or the structured output, on standard output. */
function printAnswer(
  context: Context,
  { text, json, output: value }: Awaited<ReturnType<Session["tryResult"]>>,
  as: "answer" | "json" | "stream",
): void {
  if (as === "json") {
    if (json !== undefined) context.print(JSON.stringify(value, undefined, 2));
  } else if (text !== undefined && text !== null) context.print(stripControls(text));
}

/** Returns a function that reports each waiting call once, with the command that answers it. */
function createAnnouncer(context: Context, endLine: () => void): (calls: readonly WaitingCall[]) => void {
  const announced = new Set<string>();
  return (calls) => {
    for (const call of calls) {
      if (announced.has(getCallKey(call))) continue;
      announced.add(getCallKey(call));
      if (context.json) context.printJson({ type: "needs-approval", ...call });
      else {
        endLine();
        for (const line of formatWaitingCall(call, { options: context.options }))
          context.report(context.err.yellow(line));
      }
    }
  };
}

function formatLeftRunning({ id }: Session, { started }: LocalStack): string {
  return started.length === 0
    ? `Left. The run continues; \`holdfast status ${id}\` displays it.`
    : `Left. The run continues when a server and a worker run again: \`holdfast dev\`, then \`holdfast show ${id}\`.`;
}

async function reportResult(
  context: Context,
  holdfast: Holdfast,
  session: Session,
  result: RunResult,
  isQuiet: boolean,
): Promise<number> {
  const totals: Partial<RunSummary> = await readRunSummary(holdfast.session(session.id)).catch(() => ({}));
  const exitCode = OUTCOME_EXIT_CODES[result.outcome.type];
  if (context.json) context.printJson({ type: "result", ...totals, ...result, exitCode });
  else {
    if (result.repairs !== undefined && !isQuiet)
      context.report(context.err.dim(`The output was repaired: ${result.repairs.join("; ")}`));
    const summary = `${describeOutcome(result.outcome)} · ${describeTotals(totals)} · session ${session.id}`;
    if (exitCode !== EXIT.ok) context.report(context.err.red(summary));
    else if (!isQuiet) context.report(context.err.dim(summary));
  }
  return exitCode;
}
