import type { Command } from "commander";
import type { AgentDefinitionInput, Exploration, ExploredBranch } from "../../../client/index.ts";
import { buildRunSummary } from "../../../client/runs/run-summary.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { loadAgentFile } from "../agent-file.ts";
import type { Context, RunAction } from "../context.ts";
import { EvaluationProgress, formatBranchRows } from "../evaluation-progress.ts";
import { EXIT, OUTCOME_EXIT_CODES } from "../exit-codes.ts";
import { SESSION_ARGUMENT } from "../find-session.ts";
import { handleInterrupts } from "../interrupts.ts";
import { addSharedLimitOptions, type LimitFlags, parseLimits } from "../limit-flags.ts";
import { openStack } from "../local-stack.ts";
import { stripControls } from "../palette.ts";
import { addPositionOptions, type PositionFlags, parsePosition } from "../position-flags.ts";
import { applySandboxFlag, SANDBOX_OPTION, type SandboxFlag } from "../sandbox-flag.ts";
import { formatTable } from "../table.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { readTrust, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";

type Flags = PositionFlags &
  LimitFlags &
  SandboxFlag &
  UntrustedFlag & { readonly prompt?: readonly string[]; readonly agent?: readonly string[] };

export function configureExploreCommand(command: Command, runAction: RunAction): void {
  command.argument("<session>", SESSION_ARGUMENT);
  addPositionOptions(command)
    .option("-p, --prompt <text>", "the prompt of one branch; repeat it for each branch", collectValue)
    .option(
      "-a, --agent <file>",
      "an agent file, or FILE#NAME, of one branch; a single one applies to all",
      collectValue,
    )
    .option(...UNTRUSTED)
    .option(...SANDBOX_OPTION);
  addSharedLimitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast explore 5f0c… -p "Fix it in the parser" -p "Fix it in the caller"
  $ holdfast explore 5f0c… --before-turn 3 -a small.toml -a large.toml --max-cost 2

Each result is a branch of the session: \`holdfast run TASK --session 5f0c… --branch ID\` continues the one that you choose.
The session's head does not move. Files are not forked: agents that share a folder also share its files.
Ctrl-C stops all branches.`,
    )
    .action(async (session: string, flags: Flags) =>
      runAction((context) => explore(context, session, flags)),
    );
}

function collectValue(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function explore(context: Context, reference: string, flags: Flags): Promise<number> {
  const branches = buildBranches(context, flags);
  showTrustNotice(context, flags);
  const limits = parseLimits(flags);
  const stack = await openStack(context, {
    sandbox: flags.sandbox,
    agents: listKnownAgents(branches),
  });
  try {
    const session = await stack.holdfast.sessions.find(reference);
    const exploration = await stack.holdfast.session(session).branches.explore(branches, {
      ...parsePosition(flags),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    });
    return await followExploration(context, exploration);
  } finally {
    await stack.close();
  }
}

/** Pairs prompts with agents by position; a single prompt or agent applies to every branch. */
function buildBranches(context: Context, flags: Flags): readonly ExploredBranch[] {
  const { prompt = [], agent = [] } = flags;
  const count = Math.max(prompt.length, agent.length);
  if (count === 0)
    throw new UsageError(
      "No branches are given. Specify --prompt TEXT or --agent FILE, once for each branch.",
    );
  const fits = [prompt, agent].every(({ length }) => length <= 1 || length === count);
  if (!fits) {
    throw new UsageError(
      `${prompt.length} prompts and ${agent.length} agents cannot be paired. Give equal numbers, or only one of a kind.`,
    );
  }
  const agents = agent.map((file) =>
    applySandboxFlag(loadAgentFile(file, readTrust(context, flags)).agent, flags),
  );
  return Array.from({ length: count }, (_, index) => {
    const [branchAgent, branchPrompt] = [agents[index] ?? agents[0], prompt[index] ?? prompt[0]];
    return {
      ...omitUndefined({ agent: branchAgent, prompt: branchPrompt }),
    };
  });
}

/** Returns the agents of the branches; undefined if one of them continues with the session's own agent. */
function listKnownAgents(branches: readonly ExploredBranch[]): readonly AgentDefinitionInput[] | undefined {
  const agents = branches.flatMap(({ agent }) => agent ?? []);
  return agents.length === branches.length ? agents : undefined;
}

async function followExploration(context: Context, exploration: Exploration): Promise<number> {
  const off = handleInterrupts(
    context.streams.signals,
    () => {
      context.report(context.err.yellow("\nStopping the branches …"));
      exploration
        .stop(undefined, "interrupted at the terminal")
        .catch((error: Error) => context.report(error.message));
    },
    () => undefined,
  );
  const board = new EvaluationProgress();
  try {
    const ended = exploration.result();
    ended.catch(() => undefined);
    for await (const item of exploration.events()) {
      if (context.json) context.printEvent(item);
      const line = context.json ? undefined : board.formatEvent(item.event);
      if (line !== undefined) context.report(context.err.dim(stripControls(line)));
    }
    const result = await ended;
    const exitCode = OUTCOME_EXIT_CODES[result.outcome.type];
    if (context.json)
      context.printJson({ ...buildRunSummary(await exploration.status()), ...result, exitCode });
    else {
      for (const row of formatTable(formatBranchRows(result.branches))) context.print(stripControls(row));
      const tone = exitCode === EXIT.ok ? context.err.dim : context.err.red;
      context.report(tone(stripControls(`${result.decision.reason} · session ${result.session}`)));
    }
    return exitCode;
  } finally {
    off();
  }
}
