import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type {
  AgentDefinition,
  Evaluation,
  EvaluationOutcome,
  EvaluationStrategy,
} from "../../client/index.ts";
import { PLAIN_STRATEGIES } from "../../schema/evaluation.ts";
import { agentFromFile } from "../agent-file.ts";
import { ContestBoard, contestRows } from "../contest-board.ts";
import type { Context } from "../context.ts";
import { EXIT, EXIT_OF_OUTCOME } from "../exit-codes.ts";
import { onInterrupts } from "../interrupts.ts";
import { type LimitFlags, limitOptions, limitsFrom } from "../limit-flags.ts";
import { openStack, type Stack } from "../local-stack.ts";
import { printable } from "../palette.ts";
import { problemView } from "../problem-view.ts";
import { table } from "../table.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { surroundingsOf, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";
import { count, describeCost, describeOutcome } from "../words.ts";

type Flags = LimitFlags &
  UntrustedFlag & {
    readonly agent?: readonly string[];
    readonly judge?: string;
    readonly strategy?: string;
    readonly session?: string;
  };

export function compareCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  const command = program
    .command("compare")
    .description("Give several agents the same task side by side, and go on with the best answer")
    .argument(
      "[task]",
      'what to do; "-" reads it from standard input; left out, every agent goes on with what --session holds',
    )
    .option("-a, --agent <file>", "an agent file, or FILE#NAME; once for each that is compared", collect)
    .option("-j, --judge <file>", "an agent file: its model chooses the best answer")
    .option(...UNTRUSTED)
    .option(
      "--strategy <name>",
      `${PLAIN_STRATEGIES.join(", ")}, judge, or one that the worker has registered (default: judge with --judge, else pick-first)`,
    )
    .option("--session <id>", "begin where this session stands (default: a new one)");
  limitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast compare "Explain the bug in parser.ts" --agent small.toml --agent large.toml --judge judge.toml
  $ holdfast compare "Name this function" -a agents.toml#a -a agents.toml#b --strategy token-efficient
  $ holdfast compare --session 5f0c… -a a.toml -a b.toml --strategy elaborate --max-cost 2
  $ git diff | holdfast compare - -a a.toml -a b.toml -j judge.toml --json

Limits hold for all agents and the judge together. The chosen answer is what the session goes on with; the others stay
in its record. Files that the agents change in one folder are changed for all of them: give each its own workspace.
Ctrl-C stops the branches and takes the first that has answered; a second one leaves.`,
    )
    .action(async (task: string | undefined, flags: Flags) =>
      act((context) => compare(context, task, flags)),
    );
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function compare(context: Context, task: string | undefined, flags: Flags): Promise<number> {
  const prompt = task === "-" ? await readAll(context.streams.stdin) : task;
  if (prompt !== undefined && prompt.trim() === "") throw new UsageError("The task is empty.");
  if (prompt === undefined && flags.session === undefined) {
    throw new UsageError("Say what to do, or name a session whose conversation waits for an answer.");
  }
  const named = flags.agent ?? [];
  if (named.length === 0) throw new UsageError("Name the agents to compare: --agent a.toml --agent b.toml");
  const agents = named.map((file) => agentIn(context, file, flags));
  const strategy = strategyFrom(context, flags);
  noticeOfTrust(context, flags);
  const limits = limitsFrom(flags);
  const stack = await openStack(context);
  try {
    const evaluation = await stack.holdfast.evaluate({
      agents,
      strategy,
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(flags.session === undefined ? {} : { session: flags.session }),
    });
    context.tell(
      context.err.dim(`session ${evaluation.session}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`),
    );
    return await follow(context, stack, evaluation);
  } finally {
    await stack.close();
  }
}

function agentIn(context: Context, file: string, flags: Flags): AgentDefinition {
  const { agent, problems } = agentFromFile(file, surroundingsOf(context, flags));
  for (const problem of problems) context.tell(problemView(problem, context.err).join("\n"));
  return agent;
}

function strategyFrom(context: Context, flags: Flags): EvaluationStrategy {
  const { strategy, judge } = flags;
  const name = strategy ?? (judge === undefined ? "pick-first" : "judge");
  if (name === "judge") {
    if (judge === undefined) throw new UsageError("The strategy judge needs one: --judge judge.toml");
    return { type: "judge", judge: agentIn(context, judge, flags) };
  }
  if (judge !== undefined) throw new UsageError(`--judge is for the strategy judge, not for "${name}"`);
  const plain = PLAIN_STRATEGIES.find((one) => one === name);
  return plain === undefined ? { type: "custom", name } : { type: plain };
}

async function follow(context: Context, stack: Stack, evaluation: Evaluation): Promise<number> {
  const leave = new AbortController();
  const off = onInterrupts(
    context.streams.signals,
    () => {
      context.tell(context.err.yellow("\nStopping the branches … Ctrl-C again leaves them."));
      evaluation.stop("interrupted at the terminal").catch((error: Error) => context.tell(error.message));
    },
    () => leave.abort(),
  );
  const board = new ContestBoard();
  try {
    const result = evaluation.result({ signal: leave.signal });
    result.catch(() => undefined);
    for await (const item of evaluation.watch({ signal: leave.signal })) {
      if (context.json) context.printJson(item);
      const line = context.json ? undefined : board.say(item);
      if (line !== undefined) context.tell(context.err.dim(printable(line)));
    }
    if (leave.signal.aborted) {
      context.tell(left(evaluation, stack));
      return EXIT.interrupted;
    }
    return conclude(context, await result);
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    context.tell(left(evaluation, stack));
    return EXIT.interrupted;
  } finally {
    off();
  }
}

function left({ session }: Evaluation, { own }: Stack): string {
  return own.length === 0
    ? `Left. The evaluation goes on; \`holdfast status ${session}\` shows it.`
    : `Left. The evaluation goes on when a server and a worker are there again: \`holdfast dev\`.`;
}

/** The table and the reason for the person at the terminal, the chosen text for standard output. */
function conclude(context: Context, result: EvaluationOutcome): number {
  const { session, outcome, decision, costUsd, text } = result;
  const exitCode = EXIT_OF_OUTCOME[outcome.type];
  if (context.json) {
    context.printJson({ type: "result", ...result, exitCode });
    return exitCode;
  }
  for (const row of table(contestRows(result))) context.tell(printable(row));
  context.tell(
    decision.by === "fallback" ? context.err.yellow(printable(decision.reason)) : printable(decision.reason),
  );
  if (text !== undefined && text !== "") context.print(printable(text));
  const words = `${describeOutcome(outcome)} · ${count(result.losers.length + 1, "agent")} compared · ${describeCost(costUsd)} · session ${session}`;
  context.tell(exitCode === EXIT.ok ? context.err.dim(words) : context.err.red(words));
  return exitCode;
}
