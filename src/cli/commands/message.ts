import type { Command } from "commander";
import type { SendMessageOptions } from "../../client/index.ts";
import { type AgentFlags, addAgentFlags, definitionFrom } from "../agent-flags.ts";
import type { Context } from "../context.ts";
import { detached, mustStay } from "../detach.ts";
import { durationMs } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { openStack } from "../local-stack.ts";
import { problemView } from "../problem-view.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";
import { follow } from "./run.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type Flags = AgentFlags & {
  readonly steer?: boolean;
  readonly followUp?: boolean;
  readonly rotateAfter?: string;
  readonly detach?: boolean;
};

export function sendCommand(program: Command, act: Act): void {
  const command = program
    .command("send")
    .description("Say something to a session, whatever it is doing: it is opened, continued or prompted")
    .argument("<session>", "the session's id")
    .argument("<text...>", "what to say")
    .option("--steer", "while it is running: to be read before the next answer (default: refused)")
    .option("--follow-up", "while it is running: to be read when the agent would stop")
    .option("--rotate-after <time>", "leave the session for a new one when it was idle for longer: 30m, 12h")
    .option("--detach", "leave what it starts to the server and its workers");
  addAgentFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast send 5f0c… "Now the tests"
  $ holdfast send 5f0c… --steer "Leave the tests as they are"
  $ holdfast send my-session "Make a plan" --model anthropic/claude-sonnet-4-5

A session that is new needs --model or --agent; one that is known goes on with the definition that it had last.`,
    )
    .action(async (session: string, text: string[], flags: Flags) =>
      act((context) => send(context, session, text.join(" "), flags)),
    );
}

async function send(context: Context, id: string, text: string, flags: Flags): Promise<number> {
  const whileRunning = wordFor(flags);
  const made =
    flags.model === undefined && flags.agent === undefined
      ? undefined
      : definitionFrom(flags, { cwd: process.cwd(), env: context.streams.env });
  noticeOfTrust(context, flags);
  for (const warning of made?.warnings ?? []) context.tell(context.err.yellow(warning));
  for (const problem of made?.problems ?? []) context.tell(problemView(problem, context.err).join("\n"));
  const stack = await openStack(context);
  try {
    if (flags.detach === true) mustStay(stack);
    const sent = await stack.holdfast.send(id, text, {
      whileRunning,
      ...(made === undefined ? {} : { agent: made.agent }),
      ...(flags.rotateAfter === undefined
        ? {}
        : { rotateAfterMs: durationMs("--rotate-after", flags.rotateAfter) }),
    });
    if (context.json) context.printJson({ type: "sent", ...sent });
    else context.tell(context.err.dim(`${sent.as} · session ${sent.session}`));
    if (sent.runId === undefined) return EXIT.ok;
    const session = stack.holdfast.session(sent.session, { runId: sent.runId });
    return flags.detach === true ? detached(context, session) : await follow(context, stack, session, text);
  } finally {
    await stack.close();
  }
}

function wordFor({ steer, followUp }: Flags): NonNullable<SendMessageOptions["whileRunning"]> {
  if (steer === true && followUp === true) throw new UsageError("Say --steer or --follow-up, not both.");
  if (steer === true) return "steer";
  return followUp === true ? "follow-up" : "refuse";
}
