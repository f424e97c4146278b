import type { Command } from "commander";
import type { AgentMessage, Entry, RequestOptions, StoredLoop } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { getMessageText } from "../../../schema/message-text.ts";
import { formatBranchTree } from "../branch-view.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { stripControls } from "../palette.ts";
import { parseCount } from "../position-flags.ts";
import { formatTurnRequest } from "../request-view.ts";
import { describeSandboxMode, formatSandboxActs } from "../sandbox-view.ts";
import { describeOutcome, summarizeCall } from "../text.ts";
import { UsageError } from "../usage-error.ts";

type Flags = {
  readonly events?: boolean;
  readonly branch?: string;
  readonly branches?: boolean;
  readonly asSent?: boolean;
  readonly turn?: string;
  readonly loop?: string;
};

export function configureShowCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("--events", "print the session's loops and events instead of its messages")
    .option("--branch <id>", "print this branch (default: the branch of the session's head)")
    .option("--branches", "print the session's branches as a tree: where they begin, their loops, the head")
    .option("--as-sent", "print the request to the model for one turn, with the source of every block")
    .option("--turn <n>", "with --as-sent: the turn of the loop, from 0 (default: the newest)")
    .option("--loop <id>", "with --as-sent: the loop (default: the newest)")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast show 5f0c…
  $ holdfast show 5f0c… --events --json
  $ holdfast show 5f0c… --branches
  $ holdfast show 5f0c… --turn 7 --as-sent

--as-sent rebuilds the request from the record alone, across compactions, pruning, rewinds and definition updates.
\`holdfast branch 5f0c… --before-turn 7\` reruns from that turn.`,
    )
    .action(async (session: string, flags: Flags) =>
      runAction((context) => showSession(context, session, flags)),
    );
}

async function showSession(context: Context, reference: string, flags: Flags): Promise<number> {
  const { events = false, branches = false, asSent = false, branch } = flags;
  if (!asSent && (flags.turn !== undefined || flags.loop !== undefined)) {
    throw new UsageError("--turn and --loop need --as-sent. Add --as-sent, or omit them.");
  }
  return withSession(context, reference, async (holdfast, session) => {
    if (branches) {
      const tree = await holdfast.session(session).branches.list();
      if (context.json) context.printJson(tree);
      else for (const line of formatBranchTree(tree, context.out)) context.print(line);
      return EXIT.ok;
    }
    if (asSent) {
      const request = await holdfast.session(session).messages.request(parseTurn(flags));
      if (context.json) context.printJson(request);
      else for (const line of formatTurnRequest(request, context.out)) context.print(line);
      return EXIT.ok;
    }
    if (!events) {
      const entries = await holdfast.session(session).messages.list(omitUndefined({ branch }));
      for (const entry of entries) {
        if (context.json) context.printJson(entry);
        else for (const line of formatEntry(entry, context.out)) context.print(line);
      }
      return EXIT.ok;
    }
    const one = holdfast.session(session);
    const { storedLoops } = await one.record();
    if (context.json) {
      for await (const event of one.events({ from: "session", follow: false })) context.printEvent(event);
    } else for (const loop of storedLoops) printLoop(context, loop);
    return EXIT.ok;
  });
}

/** Prints a loop with its events as stored. */
function printLoop(context: Context, { loop, events }: StoredLoop): void {
  const ended = loop.outcome === undefined ? loop.status : describeOutcome(loop.outcome);
  context.print(context.out.bold(`${loop.loopId} · ${loop.model} · ${ended}`));
  for (const { sequence, atMs, body } of events) {
    const { type, ...facts } = body;
    const at = new Date(atMs).toISOString();
    context.print(
      `  ${String(sequence).padStart(4)}  ${at}  ${type.padEnd(18)} ${context.out.dim(stripControls(JSON.stringify(facts)))}`,
    );
  }
}

function parseTurn({ turn, loop }: Flags): RequestOptions {
  return {
    ...(turn === undefined ? {} : { turn: parseCount("--turn", turn) }),
    ...omitUndefined({ loop }),
  };
}

function formatEntry({ position, origin, message }: Entry, paint: Context["out"]): readonly string[] {
  const head = paint.bold(`#${position} ${message.role === "user" ? origin : formatRole(message)}`);
  const body = formatBody(message).trimEnd();
  return body === "" ? [head, ""] : [head, stripControls(body), ""];
}

function formatRole(message: AgentMessage): string {
  switch (message.role) {
    case "assistant":
      return `assistant (${message.model}, ${message.stopReason})`;
    case "toolResult":
      return `result of ${message.toolName}${message.isError ? " (error)" : ""}${message.sandbox === undefined ? "" : ` · ${describeSandboxMode(message.sandbox)}`}`;
    default:
      return message.role;
  }
}

function formatBody(message: AgentMessage): string {
  if (message.role === "extension") return JSON.stringify(message.data) ?? "";
  const calls = message.content.flatMap((part) =>
    part.type === "toolCall" ? [`● ${part.name} ${summarizeCall(part.arguments)}`] : [],
  );
  const images = message.content.filter((part) => part.type === "image").map(() => "[image]");
  const error =
    message.role === "assistant" && message.errorMessage !== undefined ? [message.errorMessage] : [];
  const acts =
    message.role === "toolResult" && message.sandbox !== undefined ? formatSandboxActs(message.sandbox) : [];
  return [getMessageText(message), ...images, ...calls, ...error, ...acts]
    .filter((text) => text !== "")
    .join("\n");
}
