import type { Command } from "commander";
import { HoldfastError } from "../../../client/holdfast-error.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { ATTACH_OPTION, type AttachFlag, buildPrompt } from "../attachments.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { readMetadata } from "../json-object.ts";

type Flags = AttachFlag & { readonly ack?: boolean; readonly metadata?: string };

export function configureSteerCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .argument("<text...>", "the message")
    .option("--ack", "wait until the run has received it")
    .option(...ATTACH_OPTION)
    .option("--metadata <json>", "notes for programs, stored with the message: a JSON object, or @FILE")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast steer 5f0c… "Leave the tests as they are"
  $ holdfast steer 5f0c… --ack Use pnpm
  $ holdfast steer 5f0c… "It looks like this now" --attach screenshot.png

An idle session reads the message from its inbox when its next run begins.
At most 200 messages can wait for a run; further messages are rejected.`,
    )
    .action(async (session: string, text: string[], flags: Flags) =>
      runAction((context) => sendText(context, "steer", session, text.join(" "), flags)),
    );
}

export function configureFollowUpCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .argument("<text...>", "the message")
    .option("--ack", "wait until the run has received it")
    .option(...ATTACH_OPTION)
    .option("--metadata <json>", "notes for programs, stored with the message: a JSON object, or @FILE")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast follow-up 5f0c… "Then write the changelog"
  $ holdfast follow-up 5f0c… --ack Commit it`,
    )
    .action(async (session: string, text: string[], flags: Flags) =>
      runAction((context) => sendText(context, "followUp", session, text.join(" "), flags)),
    );
}

async function sendText(
  context: Context,
  verb: "steer" | "followUp",
  reference: string,
  text: string,
  { ack = false, ...flags }: Flags,
): Promise<number> {
  const metadata = readMetadata(flags);
  const message = buildPrompt(context, text, flags);
  return withSession(context, reference, async (holdfast, session) => {
    // A message starts a run that puts it into the inbox; the status call prevents a mistyped id from creating a session.
    const handle = holdfast.session(session);
    const { open } = await handle.status();
    const sent = await handle[verb](message, { acknowledge: ack, ...omitUndefined({ metadata }) });
    if (context.json) context.printJson({ type: "sent", session, open, ...sent });
    else context.print(open ? "sent" : "stored in the session's inbox: no run is open");
    return EXIT.ok;
  });
}

export function configureStopCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("--reason <text>", "the reason, for the record")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast stop 5f0c…
  $ holdfast stop 5f0c… --reason "wrong branch" && holdfast status 5f0c…`,
    )
    .action(async (session: string, flags: { reason?: string }) =>
      runAction((context) => stopSession(context, session, flags.reason)),
    );
}

async function stopSession(context: Context, reference: string, reason: string | undefined): Promise<number> {
  return withSession(context, reference, async (holdfast, session) => {
    const open = await holdfast
      .session(session)
      .stop(reason)
      .catch((error: unknown) => {
        if (error instanceof HoldfastError && error.code === "session-ended") return false;
        throw error;
      });
    if (context.json) context.printJson({ type: "stop", session, open });
    else context.print(open ? "asked to stop" : "nothing to stop: the session is idle");
    return EXIT.ok;
  });
}
