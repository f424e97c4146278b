import type { Command } from "commander";
import type { SendMessageOptions } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import { ATTACH_OPTION, type AttachFlag, buildPrompt, MENTION_HELP } from "../attachments.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable, reportDetached } from "../detach.ts";
import { parseDurationMs } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { findOrNameSession, SESSION_ARGUMENT } from "../find-session.ts";
import { followRun } from "../follow-run.ts";
import { readMetadata } from "../json-object.ts";
import { openStack } from "../local-stack.ts";
import { formatProblem } from "../problem-view.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";

type Flags = AgentFlags &
  AttachFlag & {
    readonly steer?: boolean;
    readonly followUp?: boolean;
    readonly title?: string;
    readonly rotateAfter?: string;
    readonly metadata?: string;
    readonly detach?: boolean;
  };

export function configureSendCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .argument("<text...>", "the message")
    .option(
      "--steer",
      "if a run is open: deliver before the next model call (default: the message is rejected)",
    )
    .option("--follow-up", "if a run is open: deliver when the agent would otherwise stop")
    .option("--title <text>", "the session's title in lists (default: the first words of its first message)")
    .option("--rotate-after <time>", "switch to a new session if this one was idle for longer: 30m, 12h")
    .option(...ATTACH_OPTION)
    .option("--metadata <json>", "notes for programs, stored with the message: a JSON object, or @FILE")
    .option("--detach", "start the run and exit; the server and its workers continue it");
  addAgentFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast send 5f0c… "Now the tests"
  $ holdfast send 5f0c… --steer "Leave the tests as they are"
  $ holdfast send 5f0c… "It looks like this now" --attach screenshot.png
  $ holdfast send my-session "Make a plan" --model anthropic/claude-sonnet-5-5

A new session needs --model or --agent; an existing one continues with its last definition.
${MENTION_HELP}`,
    )
    .action(async (session: string, text: string[], flags: Flags) =>
      runAction((context) => sendMessage(context, session, text.join(" "), flags)),
    );
}

async function sendMessage(context: Context, reference: string, text: string, flags: Flags): Promise<number> {
  const whileRunning = parseWhileRunning(flags);
  const metadata = readMetadata(flags);
  const made =
    flags.model === undefined && flags.agent === undefined
      ? undefined
      : buildDefinition(flags, { cwd: process.cwd(), env: context.streams.env });
  showTrustNotice(context, flags);
  for (const warning of made?.warnings ?? []) context.report(context.err.yellow(warning));
  for (const problem of made?.problems ?? []) context.report(formatProblem(problem, context.err).join("\n"));
  const stack = await openStack(context, {
    sandbox: flags.sandbox,
    agents: made === undefined ? undefined : [made.agent],
  });
  try {
    if (flags.detach === true) assertDetachable(stack);
    const id = (await findOrNameSession(stack.holdfast, reference)) ?? reference;
    const sent = await stack.holdfast.session(id).send(buildPrompt(context, text, flags), {
      whileRunning,
      ...omitUndefined({ agent: made?.agent, metadata, title: flags.title }),
      ...(flags.rotateAfter === undefined
        ? {}
        : { rotateAfterMs: parseDurationMs("--rotate-after", flags.rotateAfter) }),
    });
    if (context.json) context.printJson({ type: "sent", ...sent });
    else context.report(context.err.dim(`${sent.delivery} · session ${sent.session}`));
    if (sent.runId === undefined) return EXIT.ok;
    const session = stack.holdfast.session(sent.session, { runId: sent.runId });
    return flags.detach === true
      ? reportDetached(context, session)
      : await followRun(context, stack, session, { prompt: text });
  } finally {
    await stack.close();
  }
}

function parseWhileRunning({ steer, followUp }: Flags): NonNullable<SendMessageOptions["whileRunning"]> {
  if (steer === true && followUp === true)
    throw new UsageError("--steer and --follow-up exclude each other. Give one of them.");
  if (steer === true) return "steer";
  return followUp === true ? "follow-up" : "reject";
}
