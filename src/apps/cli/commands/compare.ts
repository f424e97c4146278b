import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type {
  AgentDefinitionInput,
  Evaluation,
  EvaluationOutcome,
  EvaluationStrategy,
  SessionStatus,
} from "../../../client/index.ts";
import { buildRunSummary } from "../../../client/runs/run-summary.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { PlainStrategy } from "../../../schema/evaluation.ts";
import { loadAgentFile } from "../agent-file.ts";
import { ATTACH_OPTION, type AttachFlag, buildPrompt } from "../attachments.ts";
import type { Context, RunAction } from "../context.ts";
import { EvaluationProgress, formatEvaluation } from "../evaluation-progress.ts";
import { EXIT, OUTCOME_EXIT_CODES } from "../exit-codes.ts";
import { findOrNameSession } from "../find-session.ts";
import { handleInterrupts } from "../interrupts.ts";
import { addSharedLimitOptions, type LimitFlags, parseLimits } from "../limit-flags.ts";
import { type LocalStack, openStack } from "../local-stack.ts";
import { stripControls } from "../palette.ts";
import { formatProblem } from "../problem-view.ts";
import { applySandboxFlag, SANDBOX_OPTION, type SandboxFlag } from "../sandbox-flag.ts";
import { formatTable } from "../table.ts";
import { describeCost, describeOutcome, formatCount } from "../text.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { readTrust, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";

type Flags = AttachFlag &
  LimitFlags &
  SandboxFlag &
  UntrustedFlag & {
    readonly agent?: readonly string[];
    readonly judge?: string;
    readonly strategy?: string;
    readonly session?: string;
  };

export function configureCompareCommand(command: Command, runAction: RunAction): void {
  command
    .argument(
      "[task]",
      'the task; "-" reads it from standard input; without it, every agent continues the conversation of --session',
    )
    .option(
      "-a, --agent <file>",
      "an agent file, or FILE#NAME; repeat it for each agent to compare",
      collectValue,
    )
    .option("-j, --judge <file>", "an agent file: its model chooses the best answer")
    .option(...UNTRUSTED)
    .option(...SANDBOX_OPTION)
    .option(
      "--strategy <name>",
      `${PlainStrategy.options.join(", ")}, judge, or one that is registered in the worker (default: judge with --judge, else pick-first)`,
    )
    .option(...ATTACH_OPTION)
    .option("--session <id>", "start from this session's head (default: a new session)");
  addSharedLimitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast compare "Explain the bug in parser.ts" --agent small.toml --agent large.toml --judge judge.toml
  $ holdfast compare "Name this function" -a agents.toml#a -a agents.toml#b --strategy token-efficient
  $ holdfast compare --session 5f0c… -a a.toml -a b.toml --strategy elaborate --max-cost 2
  $ git diff | holdfast compare - -a a.toml -a b.toml -j judge.toml --json

Limits apply to all agents and the judge together. The session continues with the selected answer; the others stay in
its record. Agents that share a folder also share its files: give each agent its own workspace.
Ctrl-C stops the branches and selects the first that has answered; a second Ctrl-C exits.`,
    )
    .action(async (task: string | undefined, flags: Flags) =>
      runAction((context) => compare(context, task, flags)),
    );
}

function collectValue(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function compare(context: Context, task: string | undefined, flags: Flags): Promise<number> {
  const text = task === "-" ? await readAll(context.streams.stdin) : task;
  if (text !== undefined && text.trim() === "")
    throw new UsageError("The task is empty. Give a task that has text.");
  const prompt = text === undefined ? undefined : buildPrompt(context, text, flags, task !== "-");
  if (prompt === undefined && flags.attach !== undefined)
    throw new UsageError("--attach belongs to a task. Give a task.");
  if (prompt === undefined && flags.session === undefined) {
    throw new UsageError(
      "No task is given. Give one, or use --session with a session whose conversation waits for an answer.",
    );
  }
  const files = flags.agent ?? [];
  if (files.length === 0)
    throw new UsageError("No agents are given to compare. Specify them: --agent a.toml --agent b.toml");
  const agents = files.map((file) => loadAgent(context, file, flags));
  const strategy = parseStrategy(context, flags);
  showTrustNotice(context, flags);
  const limits = parseLimits(flags);
  const stack = await openStack(context, { sandbox: flags.sandbox, agents });
  try {
    const session = await findOrNameSession(stack.holdfast, flags.session);
    const evaluation = await stack.holdfast.evaluate({
      agents,
      strategy,
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      ...omitUndefined({ prompt, session }),
    });
    context.report(
      context.err.dim(`session ${evaluation.session}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`),
    );
    return await followEvaluation(context, stack, evaluation);
  } finally {
    await stack.close();
  }
}

function loadAgent(context: Context, file: string, flags: Flags): AgentDefinitionInput {
  const { agent, problems } = loadAgentFile(file, readTrust(context, flags));
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  return applySandboxFlag(agent, flags);
}

function parseStrategy(context: Context, flags: Flags): EvaluationStrategy {
  const { strategy, judge } = flags;
  const name = strategy ?? (judge === undefined ? "pick-first" : "judge");
  if (name === "judge") {
    if (judge === undefined)
      throw new UsageError("The strategy judge needs a judge agent. Specify its file: --judge judge.toml");
    return { type: "judge", judge: loadAgent(context, judge, flags) };
  }
  if (judge !== undefined)
    throw new UsageError(`--judge works only with the strategy judge, not with "${name}"`);
  const plain = PlainStrategy.options.find((one) => one === name);
  return plain === undefined ? { type: "custom", name } : { type: plain };
}

async function followEvaluation(
  context: Context,
  stack: LocalStack,
  evaluation: Evaluation,
): Promise<number> {
  const leave = new AbortController();
  const off = handleInterrupts(
    context.streams.signals,
    () => {
      context.report(context.err.yellow("\nStopping the branches … Press Ctrl-C again to exit."));
      evaluation.stop("interrupted at the terminal").catch((error: Error) => context.report(error.message));
    },
    () => leave.abort(),
  );
  const board = new EvaluationProgress();
  try {
    const result = evaluation.tryResult({ signal: leave.signal });
    result.catch(() => undefined);
    for await (const item of evaluation.events({ signal: leave.signal })) {
      if (context.json) context.printEvent(item);
      const line = context.json ? undefined : board.formatEvent(item.event);
      if (line !== undefined) context.report(context.err.dim(stripControls(line)));
    }
    if (leave.signal.aborted) {
      context.report(formatLeftRunning(evaluation, stack));
      return EXIT.interrupted;
    }
    return reportResult(context, await result, await evaluation.status());
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    context.report(formatLeftRunning(evaluation, stack));
    return EXIT.interrupted;
  } finally {
    off();
  }
}

function formatLeftRunning({ session }: Evaluation, { started }: LocalStack): string {
  return started.length === 0
    ? `Left. The evaluation continues; \`holdfast status ${session}\` displays it.`
    : `Left. The evaluation continues when a server and a worker run again: \`holdfast dev\`.`;
}

/** Prints the selected text on standard output, and the table and the reason on standard error. */
function reportResult(context: Context, result: EvaluationOutcome, ended: SessionStatus): number {
  const { session, outcome, decision, costUsd, text } = result;
  const exitCode = OUTCOME_EXIT_CODES[outcome.type];
  if (context.json) {
    context.printJson({ ...buildRunSummary(ended), ...result, exitCode });
    return exitCode;
  }
  for (const row of formatTable(formatEvaluation(result))) context.report(stripControls(row));
  context.report(
    decision.decidedBy === "fallback"
      ? context.err.yellow(stripControls(decision.reason))
      : stripControls(decision.reason),
  );
  if (text !== undefined && text !== "") context.print(stripControls(text));
  const summary = `${describeOutcome(outcome)} · ${formatCount(result.otherBranches.length + 1, "agent")} compared · ${describeCost(costUsd)} · session ${session}`;
  context.report(exitCode === EXIT.ok ? context.err.dim(summary) : context.err.red(summary));
  return exitCode;
}
