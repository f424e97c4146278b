import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { AgentDefinitionInput, BranchOptions } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { type AgentFlags, buildChanges, buildDefinition } from "../agent-flags.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable, reportDetached } from "../detach.ts";
import { SESSION_ARGUMENT } from "../find-session.ts";
import { followRun } from "../follow-run.ts";
import { addLimitOptions, type LimitFlags, parseLimits } from "../limit-flags.ts";
import { openStack } from "../local-stack.ts";
import { addPositionOptions, POSITION_HINT, type PositionFlags, parsePosition } from "../position-flags.ts";
import { formatProblem } from "../problem-view.ts";
import { SANDBOX_OPTION } from "../sandbox-flag.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UNTRUSTED } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";
import { reportWorkspace } from "./fork.ts";

type Flags = PositionFlags &
  LimitFlags &
  Pick<
    AgentFlags,
    "agent" | "untrusted" | "model" | "baseUrl" | "prices" | "sandbox" | "system" | "tools" | "workspace"
  > & {
    readonly prompt?: string;
    readonly detach?: boolean;
  };

export function configureBranchCommand(command: Command, runAction: RunAction): void {
  command.argument("<session>", SESSION_ARGUMENT);
  addPositionOptions(command)
    .option(
      "-p, --prompt <text>",
      'the prompt; "-" reads it from standard input (default: the model answers the same context again)',
    )
    .option("-a, --agent <file>", "an agent file, or FILE#NAME, instead of the session's definition")
    .option(...UNTRUSTED)
    .option("-m, --model <name>", "another model, written as for run")
    .option("--base-url <url>", "the endpoint of the model's API (default: the vendor's)")
    .option("--prices <in,out>", "dollars per million input and output tokens")
    .option("-s, --system <text>", "another system prompt, or @FILE")
    .option("-t, --tools <a,b>", 'other tools by name, or "none"')
    .option("-w, --workspace <dir>", "another working folder")
    .option("--detach", "start the run and exit; the server and its workers continue it")
    .option(...SANDBOX_OPTION);
  addLimitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast show 5f0c… --turn 7 --as-sent
  $ holdfast branch 5f0c… --before-turn 7 --model openai/gpt-5
  $ holdfast branch 5f0c… --before-turn 7 --prompt "Read the tests first"
  $ holdfast branch 5f0c… --at 12 --agent stricter.toml --detach

Before a loop's first turn, the prompt replaces the loop's own prompt. What follows the position stays in the record.
Files are not restored: if that matters, specify another folder with --workspace.`,
    )
    .action(async (session: string, flags: Flags) => runAction((context) => branch(context, session, flags)));
}

async function branch(context: Context, reference: string, flags: Flags): Promise<number> {
  const prompt = flags.prompt === "-" ? await readAll(context.streams.stdin) : flags.prompt;
  if (prompt !== undefined && prompt.trim() === "")
    throw new UsageError("The prompt is empty. Give a prompt that has text.");
  const position = parsePosition(flags);
  if (Object.keys(position).length === 0) {
    throw new UsageError(`No starting position is given. ${POSITION_HINT}`);
  }
  const limits = parseLimits(flags);
  const agent = readAgentFlags(context, flags);
  const stack = await openStack(context, {
    sandbox: flags.sandbox,
    agents: agent.agent === undefined ? undefined : [agent.agent],
  });
  try {
    if (flags.detach === true) assertDetachable(stack);
    const id = await stack.holdfast.sessions.find(reference);
    const session = await stack.holdfast.session(id).branches.start({
      ...position,
      ...agent,
      ...omitUndefined({ prompt }),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    });
    if (!context.json) reportWorkspace(context, (agent.agent ?? agent.changes)?.workspace ?? "the workspace");
    return flags.detach === true
      ? reportDetached(context, session)
      : await followRun(context, stack, session, omitUndefined({ prompt }));
  } finally {
    await stack.close();
  }
}

type AgentChoice = Pick<BranchOptions, "agent" | "changes">;

function readAgentFlags(context: Context, flags: Flags): AgentChoice {
  const fileContext = { cwd: process.cwd(), env: context.streams.env };
  if (flags.agent === undefined) {
    const changes: Partial<AgentDefinitionInput> = buildChanges(flags, fileContext);
    return Object.keys(changes).length === 0 ? {} : { changes };
  }
  const { agent: file, untrusted, model, baseUrl, prices, sandbox, system, tools, workspace } = flags;
  const definedFlags = omitUndefined({
    agent: file,
    untrusted,
    model,
    baseUrl,
    prices,
    sandbox,
    system,
    tools,
    workspace,
  });
  const { agent, warnings, problems } = buildDefinition(definedFlags, fileContext);
  showTrustNotice(context, flags);
  for (const warning of warnings) context.report(context.err.yellow(warning));
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  return { agent };
}
