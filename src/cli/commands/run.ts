import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { Holdfast, RunResult, Session, WaitingCall } from "../../client/index.ts";
import { type AgentFlags, addAgentFlags, definitionFrom } from "../agent-flags.ts";
import { keyOf } from "../approval-questions.ts";
import { waitingLines } from "../approval-view.ts";
import { ApprovalWatch } from "../approval-watch.ts";
import type { Context } from "../context.ts";
import { detached, mustStay } from "../detach.ts";
import { durationMs } from "../duration.ts";
import { EXIT, EXIT_OF_OUTCOME } from "../exit-codes.ts";
import { onInterrupts } from "../interrupts.ts";
import { followJob, left } from "../job-view.ts";
import { openStack, type Stack } from "../local-stack.ts";
import { modeFrom } from "../mode-file.ts";
import { print } from "../output.ts";
import { problemView } from "../problem-view.ts";
import { Renderer } from "../render.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";
import { count, describeCost, describeOutcome } from "../words.ts";

type Flags = AgentFlags & {
  readonly session?: string;
  readonly branch?: string;
  readonly rotateAfter?: string;
  readonly detach?: boolean;
};

export function runCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
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
    .action(async (task: string, flags: Flags) => act((context) => run(context, task, flags)));
}

async function run(context: Context, task: string, flags: Flags): Promise<number> {
  const { streams } = context;
  const declared = modeFrom(flags, { cwd: process.cwd(), env: streams.env });
  if (declared !== undefined) return await runMode(context, task, flags, declared);
  const { agent, warnings, problems } = definitionFrom(flags, { cwd: process.cwd(), env: streams.env });
  noticeOfTrust(context, flags);
  const prompt = task === "-" ? await readAll(streams.stdin) : task;
  if (prompt.trim() === "") throw new UsageError("The task is empty.");
  for (const warning of warnings) context.tell(context.err.yellow(warning));
  for (const problem of problems) context.tell(problemView(problem, context.err).join("\n"));
  const stack = await openStack(context);
  try {
    if (flags.detach === true) mustStay(stack);
    const session = await stack.holdfast.start({
      agent,
      prompt,
      ...(flags.session === undefined ? {} : { session: flags.session }),
      ...(flags.branch === undefined ? {} : { branch: flags.branch }),
      ...(flags.rotateAfter === undefined
        ? {}
        : { rotateAfterMs: durationMs("--rotate-after", flags.rotateAfter) }),
    });
    if (flags.detach === true) return detached(context, session);
    context.tell(
      context.err.dim(`session ${session.id}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`),
    );
    return await follow(context, stack, session, prompt, flags.outputSchema !== undefined);
  } finally {
    await stack.close();
  }
}

/** Starts what the [mode] of a file says; `--session` is the job's id then. */
async function runMode(
  context: Context,
  task: string,
  flags: Flags,
  { mode, problems }: NonNullable<ReturnType<typeof modeFrom>>,
): Promise<number> {
  const words = task === "-" ? await readAll(context.streams.stdin) : task;
  if (words.trim() === "") throw new UsageError("The task is empty.");
  noticeOfTrust(context, flags);
  for (const problem of problems) context.tell(problemView(problem, context.err).join("\n"));
  const stack = await openStack(context);
  try {
    if (flags.detach === true) mustStay(stack);
    const job = await stack.holdfast.startJob({
      mode,
      task: words,
      ...(flags.session === undefined ? {} : { job: flags.session }),
    });
    if (flags.detach === true) return left(context, job);
    const { id, runId = "" } = job;
    if (mode.type === "interactive") {
      return await follow(context, stack, stack.holdfast.session(id, { runId }), words);
    }
    context.tell(context.err.dim(`job ${id}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`));
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
export async function follow(
  context: Context,
  stack: Stack,
  session: Session,
  prompt = "",
  outputAlone = false,
): Promise<number> {
  const shown = outputAlone ? context.streams.stderr : context.streams.stdout;
  const leave = new AbortController();
  const off = onInterrupts(
    context.streams.signals,
    () => {
      context.tell(context.err.yellow("\nStopping the run … Ctrl-C again leaves it."));
      session.stop("interrupted at the terminal").catch((error: Error) => context.tell(error.message));
    },
    () => leave.abort(),
  );
  const renderer = new Renderer({
    write: (text) => print(shown, text),
    paint: outputAlone ? context.err : context.out,
    ownWords: new Set([prompt]),
  });
  const approvals = new ApprovalWatch(() => session.approvals(), announcer(context, renderer));
  approvals.start();
  try {
    const result = session.result({ signal: leave.signal });
    result.catch(() => undefined);
    for await (const item of session.watch({ signal: leave.signal })) {
      if (context.json) context.printJson(item);
      else renderer.show(item);
      if (item.type === "event") approvals.look();
    }
    renderer.endLine();
    if (leave.signal.aborted) {
      context.tell(context.err.yellow(leftRunning(session, stack)));
      return EXIT.interrupted;
    }
    const concluded = await result;
    if (outputAlone && !context.json && concluded.json !== undefined)
      context.print(JSON.stringify(concluded.output, undefined, 2));
    return await conclude(context, stack.holdfast, session, concluded);
  } finally {
    approvals.stop();
    off();
  }
}

/** Says of each call once that it waits, and how to answer. */
function announcer(context: Context, renderer: Renderer): (calls: readonly WaitingCall[]) => void {
  const announced = new Set<string>();
  return (calls) => {
    for (const call of calls) {
      if (announced.has(keyOf(call))) continue;
      announced.add(keyOf(call));
      if (context.json) context.printJson({ type: "needs-approval", ...call });
      else {
        renderer.endLine();
        for (const line of waitingLines(call, { options: context.options }))
          context.tell(context.err.yellow(line));
      }
    }
  };
}

function leftRunning({ id }: Session, { own }: Stack): string {
  return own.length === 0
    ? `Left. The run goes on; \`holdfast status ${id}\` shows it.`
    : `Left. The run goes on when a server and a worker are there again: \`holdfast dev\`, then \`holdfast show ${id}\`.`;
}

async function conclude(
  context: Context,
  holdfast: Holdfast,
  session: Session,
  result: RunResult,
): Promise<number> {
  const { turns = 0, costUsd = null } = await holdfast
    .status(session.id)
    .catch(() => ({ turns: 0, costUsd: null }));
  const exitCode = EXIT_OF_OUTCOME[result.outcome.type];
  if (context.json) context.printJson({ type: "result", ...result, turns, costUsd, exitCode });
  else {
    const words = `${describeOutcome(result.outcome)} · ${count(turns, "turn")} · ${describeCost(costUsd)} · session ${session.id}`;
    context.tell(exitCode === EXIT.ok ? context.err.dim(words) : context.err.red(words));
  }
  return exitCode;
}
