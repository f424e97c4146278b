import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import { runLineChat } from "../chat/line-chat.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { openStack } from "../local-stack.ts";
import { formatProblem } from "../problem-view.ts";
import { showTrustNotice } from "../trust-notice.ts";

type Flags = AgentFlags & { readonly session?: string };

export function configureChatCommand(command: Command, runAction: RunAction): void {
  command.option(
    "--session <id>",
    "resume this session; its definition is used unless you give --model or --agent",
  );
  addAgentFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast chat --model anthropic/claude-sonnet-4-5
  $ holdfast chat --agent agent.toml
  $ holdfast chat --session 5f0c…

While the agent runs, a line steers it, "/f TEXT" queues a follow-up, Ctrl-C stops the run and a second Ctrl-C exits.
A call that needs approval is displayed: y, n, a (always), e (edit the arguments); Ctrl-C leaves it unanswered.
/help lists all commands. Without a terminal, pipe lines to standard input.`,
    )
    .action(async (flags: Flags) => runAction((context) => chat(context, flags)));
}

async function chat(context: Context, flags: Flags): Promise<number> {
  const { streams } = context;
  const isResumed = flags.session !== undefined;
  const usesOwnDefinition = isResumed && flags.model === undefined && flags.agent === undefined;
  const made = usesOwnDefinition
    ? undefined
    : buildDefinition(flags, { cwd: process.cwd(), env: streams.env });
  if (made !== undefined) showTrustNotice(context, flags);
  for (const warning of made?.warnings ?? []) context.report(context.err.yellow(warning));
  for (const problem of made?.problems ?? []) context.report(formatProblem(problem, context.err).join("\n"));
  const session = flags.session ?? randomUUID();
  const stack = await openStack(context);
  try {
    const { holdfast } = stack;
    const onSending = (): void => undefined;
    const at = await runLineChat({ context, holdfast, session, agent: made?.agent, isResumed, onSending });
    context.report(
      context.err.dim(
        `${at === "idle" ? "Left." : "Left; the run continues."} To resume: holdfast chat --session ${session}`,
      ),
    );
    return at === "idle" ? EXIT.ok : EXIT.interrupted;
  } finally {
    await stack.close();
  }
}
