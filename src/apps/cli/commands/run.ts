import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { Holdfast, RunResult, Session, WaitingCall } from "../../../client/index.ts";
import { isLiveOutput } from "../../../client/read/live-events.ts";
import { type RunSummary, readRunSummary } from "../../../client/runs/run-summary.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import { getCallKey } from "../approval-dialog.ts";
import { ApprovalPoller } from "../approval-poller.ts";
import { formatWaitingCall } from "../approval-view.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable, reportDetached } from "../detach.ts";
import { parseDurationMs } from "../duration.ts";
import { EXIT, OUTCOME_EXIT_CODES } from "../exit-codes.ts";
import { handleInterrupts } from "../interrupts.ts";
import { followJob, reportLeftRunning } from "../job-view.ts";
import { readMetadata } from "../json-object.ts";
import { type LocalStack, openStack } from "../local-stack.ts";
import { loadMode } from "../mode-file.ts";
import { print } from "../output.ts";
import { formatProblem } from "../problem-view.ts";
import { Renderer } from "../render.ts";
import { describeOutcome, describeTotals } from "../text.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";

type Flags = AgentFlags & {
  readonly session?: string;
  readonly branch?: string;
  readonly rotateAfter?: string;
  readonly metadata?: string;
  readonly detach?: boolean;
};

export function configureRunCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<task>", 'the task; "-" reads it from standard input')
    .option("--session <id>", "continue this session (default: a new session)")
    .option("--branch <id>", "continue at the end of this branch, which becomes the session's head")
    .option("--rotate-after <time>", "switch to a new session if this one was idle for longer: 30m, 12h")
    .option(
      "--output-schema <file>",
      "a JSON Schema that the answer must match; standard output is only that JSON",
    )
    .option("--metadata <json>", "notes for programs, stored with the message: a JSON object, or @FILE")
    .option(
      "--detach",
      "start the run, print the session's id and exit; the server and its workers continue it",
    );
  addAgentFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast run "Make the tests pass" --model anthropic/claude-sonnet-4-5 --workspace ~/project
  $ holdfast run "Review the last commit" --agent agents.toml#reviewer
  $ holdfast run "Write about cats" --agent team.toml
  $ git diff | holdfast run - --model openai/gpt-5 --system "Review this change." --tools none
  $ holdfast run "List the open questions" --model openai/gpt-5 --output-schema questions.json > questions.out.json
  $ holdfast run "Summarise the README" --model local/qwen3@http://127.0.0.1:8080/v1 --json

The command uses a running server (holdfast dev, --address, TEMPORAL_ADDRESS). If you specify none and none responds, it
starts a server and a worker for the duration of the run. Ctrl-C stops the run; a second Ctrl-C exits.
An agent file with a [mode] section starts that mode: a pipeline, a fan-out, an autonomous agent or a supervisor.
When a call waits for approval, the command prints the call and how to answer it; the run waits.`,
    )
    .action(async (task: string, flags: Flags) => runAction((context) => runTask(context, task, flags)));
}

async function runTask(context: Context, task: string, flags: Flags): Promise<number> {
  const { streams } = context;
  const declared = loadMode(flags, { cwd: process.cwd(), env: streams.env });
  if (declared !== undefined) return await runMode(context, task, flags, declared);
  const { agent, warnings, problems } = buildDefinition(flags, { cwd: process.cwd(), env: streams.env });
  showTrustNotice(context, flags);
  const prompt = task === "-" ? await readAll(streams.stdin) : task;
  if (prompt.trim() === "") throw new UsageError("The task is empty. Give a task that has text.");
  const metadata = readMetadata(flags);
  for (const warning of warnings) context.report(context.err.yellow(warning));
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  const stack = await openStack(context);
  try {
    if (flags.detach === true) assertDetachable(stack);
    const session = await stack.holdfast.start({
      agent,
      prompt,
      ...omitUndefined({ session: flags.session, branch: flags.branch, metadata }),
      ...(flags.rotateAfter === undefined
        ? {}
        : { rotateAfterMs: parseDurationMs("--rotate-after", flags.rotateAfter) }),
    });
    if (flags.detach === true) return reportDetached(context, session);
    context.report(
      context.err.dim(`session ${session.id}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`),
    );
    return await followRun(context, stack, session, prompt, flags.outputSchema !== undefined);
  } finally {
    await stack.close();
  }
}

/** Starts the job that the [mode] section of an agent file describes; `--session` is then the job's id. */
async function runMode(
  context: Context,
  task: string,
  flags: Flags,
  { mode, problems }: NonNullable<ReturnType<typeof loadMode>>,
): Promise<number> {
  const prompt = task === "-" ? await readAll(context.streams.stdin) : task;
  if (prompt.trim() === "") throw new UsageError("The task is empty. Give a task that has text.");
  if (flags.metadata !== undefined) {
    throw new UsageError("--metadata belongs to a prompt; an agent file with a [mode] section starts a job.");
  }
  showTrustNotice(context, flags);
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  const stack = await openStack(context);
  try {
    if (flags.detach === true) assertDetachable(stack);
    const job = await stack.holdfast.jobs.start({
      mode,
      task: prompt,
      ...omitUndefined({ job: flags.session }),
    });
    if (flags.detach === true) return reportLeftRunning(context, job);
    const { id, runId = "" } = job;
    if (mode.type === "interactive") {
      return await followRun(context, stack, stack.holdfast.session(id, { runId }), prompt);
    }
    context.report(context.err.dim(`job ${id}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`));
    return await followJob(context, stack.holdfast, job);
  } finally {
    await stack.close();
  }
}

/**
 * Displays a run until it ends, and returns the exit code.
 *
 * @param outputOnly - Standard output gets only the run's structured output; the run is displayed on standard error.
 */
export async function followRun(
  context: Context,
  stack: LocalStack,
  session: Session,
  prompt = "",
  outputOnly = false,
): Promise<number> {
  const target = outputOnly ? context.streams.stderr : context.streams.stdout;
  const leave = new AbortController();
  const off = handleInterrupts(
    context.streams.signals,
    () => {
      context.report(context.err.yellow("\nStopping the run … Press Ctrl-C again to exit."));
      session.stop("interrupted at the terminal").catch((error: Error) => context.report(error.message));
    },
    () => leave.abort(),
  );
  const renderer = new Renderer({
    write: (text) => print(target, text),
    paint: outputOnly ? context.err : context.out,
    ownPrompts: new Set([prompt]),
  });
  const approvals = new ApprovalPoller(() => session.approvals.list(), createAnnouncer(context, renderer));
  approvals.start();
  try {
    const result = session.tryResult({ signal: leave.signal });
    result.catch(() => undefined);
    for await (const item of session.events({ signal: leave.signal })) {
      if (context.json) context.printEvent(item);
      else renderer.show(item.event);
      if (!isLiveOutput(item.event)) approvals.poll();
    }
    renderer.endLine();
    if (leave.signal.aborted) {
      context.report(context.err.yellow(formatLeftRunning(session, stack)));
      return EXIT.interrupted;
    }
    const concluded = await result;
    if (outputOnly && !context.json && concluded.json !== undefined)
      context.print(JSON.stringify(concluded.output, undefined, 2));
    return await reportResult(context, stack.holdfast, session, concluded);
  } finally {
    approvals.stop();
    off();
  }
}

/** Returns a function that reports each waiting call once, with the command that answers it. */
function createAnnouncer(context: Context, renderer: Renderer): (calls: readonly WaitingCall[]) => void {
  const announced = new Set<string>();
  return (calls) => {
    for (const call of calls) {
      if (announced.has(getCallKey(call))) continue;
      announced.add(getCallKey(call));
      if (context.json) context.printJson({ type: "needs-approval", ...call });
      else {
        renderer.endLine();
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
): Promise<number> {
  const totals: Partial<RunSummary> = await readRunSummary(holdfast.session(session.id)).catch(() => ({}));
  const exitCode = OUTCOME_EXIT_CODES[result.outcome.type];
  if (context.json) context.printJson({ type: "result", ...totals, ...result, exitCode });
  else {
    const summary = `${describeOutcome(result.outcome)} · ${describeTotals(totals)} · session ${session.id}`;
    context.report(exitCode === EXIT.ok ? context.err.dim(summary) : context.err.red(summary));
  }
  return exitCode;
}
