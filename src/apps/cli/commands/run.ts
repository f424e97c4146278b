import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { Holdfast, RunResult, Session, WaitingCall } from "../../../client/index.ts";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import { getCallKey } from "../approval-dialog.ts";
import { ApprovalPoller } from "../approval-poller.ts";
import { formatWaitingCall } from "../approval-view.ts";
import type { Context } from "../context.ts";
import { assertDetachable, reportDetached } from "../detach.ts";
import { parseDurationMs } from "../duration.ts";
import { EXIT, OUTCOME_EXIT_CODES } from "../exit-codes.ts";
import { handleInterrupts } from "../interrupts.ts";
import { followJob, reportLeftRunning } from "../job-view.ts";
import { type LocalStack, openStack } from "../local-stack.ts";
import { loadMode } from "../mode-file.ts";
import { print } from "../output.ts";
import { formatProblem } from "../problem-view.ts";
import { Renderer } from "../render.ts";
import { describeCost, describeOutcome, formatCount } from "../text.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";

type Flags = AgentFlags & {
  readonly session?: string;
  readonly branch?: string;
  readonly rotateAfter?: string;
  readonly detach?: boolean;
};

export function addRunCommand(
  program: Command,
  runAction: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  const command = program
    .command("run")
    .description("Give an agent a task and watch it until it is done")
    .argument("<task>", 'what to do; "-" reads it from standard input')
    .option("--session <id>", "go on in this session (default: a new one)")
    .option("--branch <id>", "at the end of this branch of it, which is its head from then on")
    .option("--rotate-after <time>", "leave the session for a new one when it was idle for longer: 30m, 12h")
    .option(
      "--output-schema <file>",
      "a JSON Schema that the answer must fit; standard output is that JSON alone",
    )
    .option("--detach", "start it, print the session and leave it to the server and its workers");
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

Uses a server that is running (holdfast dev, --address, TEMPORAL_ADDRESS). Where none answers and none was named, a
server and a worker are started for the time of the run. Ctrl-C stops the run; a second one leaves.
A file with a [mode] starts what it says: a pipeline, a fan-out, an autonomous agent, a supervisor.
When a call waits for approval, it is printed with the command to answer it with; the run goes on waiting.`,
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
  if (prompt.trim() === "") throw new UsageError("The task is empty.");
  for (const warning of warnings) context.report(context.err.yellow(warning));
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  const stack = await openStack(context);
  try {
    if (flags.detach === true) assertDetachable(stack);
    const session = await stack.holdfast.start({
      agent,
      prompt,
      ...(flags.session === undefined ? {} : { session: flags.session }),
      ...(flags.branch === undefined ? {} : { branch: flags.branch }),
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

/** Starts what the [mode] of a file says; `--session` is the job's id then. */
async function runMode(
  context: Context,
  task: string,
  flags: Flags,
  { mode, problems }: NonNullable<ReturnType<typeof loadMode>>,
): Promise<number> {
  const prompt = task === "-" ? await readAll(context.streams.stdin) : task;
  if (prompt.trim() === "") throw new UsageError("The task is empty.");
  showTrustNotice(context, flags);
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  const stack = await openStack(context);
  try {
    if (flags.detach === true) assertDetachable(stack);
    const job = await stack.holdfast.startJob({
      mode,
      task: prompt,
      ...(flags.session === undefined ? {} : { job: flags.session }),
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
 * Shows a run until it is over.
 *
 * @param outputAlone - Standard output is left to the run's structured output; the run is shown on standard error.
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
      context.report(context.err.yellow("\nStopping the run … Ctrl-C again leaves it."));
      session.stop("interrupted at the terminal").catch((error: Error) => context.report(error.message));
    },
    () => leave.abort(),
  );
  const renderer = new Renderer({
    write: (text) => print(target, text),
    paint: outputOnly ? context.err : context.out,
    ownWords: new Set([prompt]),
  });
  const approvals = new ApprovalPoller(() => session.approvals(), createAnnouncer(context, renderer));
  approvals.start();
  try {
    const result = session.result({ signal: leave.signal });
    result.catch(() => undefined);
    for await (const item of session.watch({ signal: leave.signal })) {
      if (context.json) context.printJson(item);
      else renderer.show(item);
      if (item.type === "event") approvals.poll();
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

/** Says of each call once that it waits, and how to answer. */
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

function formatLeftRunning({ id }: Session, { own }: LocalStack): string {
  return own.length === 0
    ? `Left. The run goes on; \`holdfast status ${id}\` shows it.`
    : `Left. The run goes on when a server and a worker are there again: \`holdfast dev\`, then \`holdfast show ${id}\`.`;
}

async function reportResult(
  context: Context,
  holdfast: Holdfast,
  session: Session,
  result: RunResult,
): Promise<number> {
  const { turns = 0, costUsd = null } = await holdfast
    .status(session.id)
    .catch(() => ({ turns: 0, costUsd: null }));
  const exitCode = OUTCOME_EXIT_CODES[result.outcome.type];
  if (context.json) context.printJson({ type: "result", ...result, turns, costUsd, exitCode });
  else {
    const summary = `${describeOutcome(result.outcome)} · ${formatCount(turns, "turn")} · ${describeCost(costUsd)} · session ${session.id}`;
    context.report(exitCode === EXIT.ok ? context.err.dim(summary) : context.err.red(summary));
  }
  return exitCode;
}
