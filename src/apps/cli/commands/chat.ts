import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { HoldfastError } from "../../../client/holdfast-error.ts";
import type { Holdfast } from "../../../client/index.ts";
import { resolveHome } from "../../../config/home.ts";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import type { ChatSetup } from "../chat/chat-setup.ts";
import { runLineChat } from "../chat/line-chat.ts";
import { RecentChats } from "../chat/recent-chats.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { findOrNameSession } from "../find-session.ts";
import { openStack } from "../local-stack.ts";
import { formatProblem } from "../problem-view.ts";
import type { ChatPhase } from "../step-chat.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";

type Flags = AgentFlags & {
  readonly session?: string;
  readonly title?: string;
  readonly continue?: true;
};

export function configureChatCommand(command: Command, runAction: RunAction): void {
  command
    .option(
      "--session <id>",
      "resume this session; its definition is used unless you give --model or --agent",
    )
    .option("-c, --continue", "resume the newest chat of the current folder")
    .option("--title <text>", "the session's title in lists (default: the first words of the first prompt)");
  addAgentFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast chat --model anthropic/claude-sonnet-5-5
  $ holdfast chat --agent agent.toml
  $ holdfast chat --session 5f0c…
  $ holdfast chat --continue
  $ printf 'List the files\\nCount them\\n' | holdfast chat --model openai/gpt-5

Enter sends a message; \\ Enter or Alt-Enter begins a new line in it. While the agent runs, a message steers it, and
"/follow-up TEXT" queues one for the end. Up and Ctrl-R find earlier messages; Tab and @ complete commands and files.
Ctrl-C clears what is typed, then stops the run, then exits. Other commands: /help lists them.
A call that needs approval is displayed with its answers; you can send messages to the agent before you choose one.
Without a terminal, pipe lines to standard input: each line is a message.`,
    )
    .action(async (flags: Flags) => runAction((context) => chat(context, flags)));
}

async function chat(context: Context, flags: Flags): Promise<number> {
  const { streams } = context;
  const recent = new RecentChats(resolveHome(context.options.home).folder);
  const folder = process.cwd();
  const isResumed = flags.session !== undefined || flags.continue === true;
  const candidates = listCandidates(flags, recent, folder);
  const usesOwnDefinition = isResumed && flags.model === undefined && flags.agent === undefined;
  const made = usesOwnDefinition ? undefined : buildDefinition(flags, { cwd: folder, env: streams.env });
  if (made !== undefined) showTrustNotice(context, flags);
  for (const warning of made?.warnings ?? []) context.report(context.err.yellow(warning));
  for (const problem of made?.problems ?? []) context.report(formatProblem(problem, context.err).join("\n"));
  const stack = await openStack(context, {
    sandbox: flags.sandbox,
    agents: made === undefined ? undefined : [made.agent],
  });
  try {
    const { holdfast } = stack;
    const session =
      flags.continue === true
        ? await findExisting(holdfast, candidates, folder)
        : ((await findOrNameSession(holdfast, flags.session)) ?? candidates[0]!);
    const onSending = (): void => recent.add({ session, folder });
    const { title } = flags;
    const at = await runChat({ context, holdfast, session, agent: made?.agent, title, isResumed, onSending });
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

/** Lists the sessions that the flags can mean, the best one first. */
function listCandidates(flags: Flags, recent: RecentChats, folder: string): readonly string[] {
  if (flags.continue !== true) return [flags.session ?? randomUUID()];
  if (flags.session !== undefined)
    throw new UsageError("--continue and --session name different sessions. Omit one of them.");
  const sessions = recent.list(folder);
  if (sessions.length === 0) throw createNothingToContinueError(folder);
  return sessions;
}

async function findExisting(
  holdfast: Holdfast,
  sessions: readonly string[],
  folder: string,
): Promise<string> {
  for (const session of sessions) {
    try {
      await holdfast.session(session).status();
      return session;
    } catch (error) {
      // The session was deleted, or belongs to another server.
      if (!(error instanceof HoldfastError) || error.code !== "session-unknown") throw error;
    }
  }
  throw createNothingToContinueError(folder);
}

function createNothingToContinueError(folder: string): UsageError {
  return new UsageError(
    `--continue: there is no chat in ${folder} to resume. Start one without --continue; \`holdfast list\` lists the ` +
      "sessions of all folders, and --session resumes one of them.",
  );
}

/** Runs a chat until the user leaves. Only a terminal that can move the cursor loads the screen. */
export async function runChat(setup: ChatSetup): Promise<ChatPhase> {
  if (!hasScreen(setup.context)) return await runLineChat(setup);
  const { runScreenChat } = await import("../tui/screen-chat.ts");
  return await runScreenChat(setup);
}

/** The terminal library uses the streams of the process. */
function hasScreen({ streams, json }: Context): boolean {
  const { stdin, stdout, env } = streams;
  const isTerminal = stdin === process.stdin && stdin.isTTY === true && stdout.isTTY === true;
  return isTerminal && !json && env["TERM"] !== "dumb";
}
