import type { Command } from "commander";
import type { AnswerResult, Holdfast } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { formatCoverage } from "../approval-view.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { readJsonObject } from "../json-object.ts";
import { formatCount } from "../text.ts";

type ApproveFlags = { readonly arguments?: string; readonly always?: boolean };
type DenyFlags = { readonly reason?: string };

const CALL_HELP = "the call's id, as listed by status; optional while only one call waits";

export function configureApproveCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .argument("[call]", CALL_HELP)
    .option("--arguments <json>", "run it with other arguments: a JSON object, or @FILE with one")
    .option(
      "--always",
      "also approve later calls of this session that match what `status` lists under `always`",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast approve 5f0c…
  $ holdfast approve 5f0c… toolu_01 --always
  $ holdfast approve 5f0c… toolu_01 --arguments '{"command":"npm publish --dry-run"}'

\`holdfast status SESSION\` lists the waiting calls.`,
    )
    .action(async (session: string, call: string | undefined, flags: ApproveFlags) =>
      runAction((context) => approve(context, session, call, flags)),
    );
}

export function configureDenyCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .argument("[call]", CALL_HELP)
    .option("--reason <text>", "the reason that the model reads")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast deny 5f0c…
  $ holdfast deny 5f0c… toolu_01 --reason "Not on a Friday; open a pull request instead"`,
    )
    .action(async (session: string, call: string | undefined, flags: DenyFlags) =>
      runAction((context) => deny(context, session, call, flags)),
    );
}

async function approve(
  context: Context,
  reference: string,
  call: string | undefined,
  { arguments: text, always }: ApproveFlags,
): Promise<number> {
  const changed = text === undefined ? undefined : readJsonObject("--arguments", text);
  return withSession(context, reference, async (holdfast, session) => {
    if (always === true && !context.json) await reportCoverage(context, holdfast, session, call);
    const approved = await holdfast.session(session).approvals.approve(call, {
      ...omitUndefined({ arguments: changed }),
      ...(always === true ? { always } : {}),
    });
    return reportAnswer(context, session, changed === undefined ? "approved" : "changed", approved);
  });
}

/** Reports, before the approval is sent, which later calls `always` approves. */
async function reportCoverage(
  context: Context,
  holdfast: Holdfast,
  session: string,
  call: string | undefined,
): Promise<void> {
  const waiting = await holdfast
    .session(session)
    .approvals.list()
    .catch(() => []);
  const found = waiting.filter(({ toolCallId }) => call === undefined || toolCallId === call);
  for (const line of found.flatMap(formatCoverage)) context.report(line);
}

async function deny(
  context: Context,
  reference: string,
  call: string | undefined,
  { reason }: DenyFlags,
): Promise<number> {
  return withSession(context, reference, async (holdfast, session) => {
    const result = await holdfast.session(session).approvals.deny(call, omitUndefined({ reason }));
    return reportAnswer(context, session, "denied", result);
  });
}

const ANSWER_LABELS = {
  approved: "approved",
  changed: "approved with other arguments",
  denied: "denied",
} as const;

function reportAnswer(
  context: Context,
  session: string,
  answer: keyof typeof ANSWER_LABELS,
  { session: owner, toolCallId, tool, waiting }: AnswerResult,
): number {
  if (context.json)
    context.printJson({ type: "answered", session: owner, answer, toolCallId, tool, waiting });
  else {
    const remaining = waiting === 0 ? "" : `; ${formatCount(waiting, "call")} more to answer`;
    const ownerText = owner === session ? "" : ` of ${owner}`;
    context.print(`${ANSWER_LABELS[answer]}: ${tool}${ownerText}${remaining}`);
  }
  return EXIT.ok;
}
