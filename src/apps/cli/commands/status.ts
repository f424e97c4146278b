import type { Command } from "commander";
import type { PartProgress, Session, SessionStatus } from "../../../client/index.ts";
import { formatBudget } from "../../../core/budget/loop-budget.ts";
import { formatChild, formatChildCounts } from "../../../core/machine/child-view.ts";
import type { Context, GlobalOptions, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { formatPending } from "../pending-view.ts";
import { describeCost, describeOutcome, formatCount, shortenText } from "../text.ts";

type Row = readonly [string, string];

export function configureStatusCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast status 5f0c…
  $ holdfast status 5f0c… --json | jq .pending`,
    )
    .action(async (session: string) => runAction((context) => showStatus(context, session)));
}

async function showStatus(context: Context, reference: string): Promise<number> {
  return withSession(context, reference, async (holdfast, session) => {
    const found = await holdfast.session(session).status();
    if (context.json) context.printJson(found);
    else
      for (const [name, value] of await formatStatusRows(holdfast.session(session), found, context.options))
        context.print(`${context.out.bold(name.padEnd(9))} ${value}`);
    return EXIT.ok;
  });
}

/** Formats a session's status, and for each call that waits for the user, the call and the command that answers it. */
export async function formatStatusRows(
  session: Session,
  status: SessionStatus,
  options: GlobalOptions,
): Promise<readonly Row[]> {
  const { approvals = [], waitingBelow = 0 } = status;
  const own = approvals.map((call) => ({ ...call, session: session.id, path: [] }));
  const asks = own.length > 0 || waitingBelow > 0;
  const waiting = asks ? await session.approvals.list().catch(() => own) : [];
  const rows = formatRows(status);
  if (waiting.length === 0) return rows;
  const { formatWaitingRows } = await import("../approval-view.ts");
  const rowContext = { options, nowMs: Date.now() };
  return [...rows, ...waiting.flatMap((call) => formatWaitingRows(call, rowContext))];
}

function formatRows(status: SessionStatus): readonly Row[] {
  const { queued, outcome, source, open, waitingBelow } = status;
  const rows: (readonly [string, string | undefined])[] = [
    ["session", status.session],
    ["title", status.title],
    [
      "status",
      `${status.status}${open && source !== "run" ? " (no worker responds; this status comes from the server)" : ""}`,
    ],
    ["activity", status.statusText],
    [
      "below",
      waitingBelow === undefined
        ? undefined
        : `${formatCount(waitingBelow, "call")} of its sub-agents wait for the user`,
    ],
    ["goal", status.goal === undefined ? undefined : shortenText(status.goal, 200)],
    ["agent", status.agent],
    ["model", status.model],
    ["sandbox", status.sandbox],
    [
      "update",
      status.pendingDefinitionHash === undefined
        ? undefined
        : "changes to another definition before its next turn",
    ],
    ["turns", status.turns === undefined ? undefined : `${status.turns}`],
    ["cost", status.costUsd === undefined ? undefined : describeCost(status.costUsd)],
    ["budget", status.budget === undefined ? undefined : formatBudget(status.budget)],
    ["agents", status.children === undefined ? undefined : formatChildCounts(status.children)],
    ...(status.children?.rows ?? []).map((row) => ["", formatChild(row)] as const),
    [
      "queued",
      queued === undefined ? undefined : `${queued.steering} steering, ${queued.followUps} follow-up`,
    ],
    [
      "rejected",
      status.rejectedMessages === undefined
        ? undefined
        : `${formatCount(status.rejectedMessages.messages, "message")}, because the queue was full`,
    ],
    ["outcome", outcome === undefined ? undefined : describeOutcome(outcome)],
    ["last", status.lastText === undefined ? undefined : shortenText(status.lastText, 200)],
    ["started", status.startedAt?.toISOString()],
    ["closed", status.closedAt?.toISOString()],
    ...formatParts(status),
    ...formatPending(status, Date.now()).map((line) => ["pending", line] as const),
  ];
  return rows.filter((row): row is Row => row[1] !== undefined && row[1] !== "");
}

/** Formats the branches of an evaluation, each with the id of the workflow that takes its messages. */
function formatParts({ branches = [], judge }: SessionStatus): readonly Row[] {
  const rows = branches.map((part, index) => [`branch ${index + 1}`, describePart(part)] as const);
  return judge === undefined ? rows : [...rows, ["judge", describePart(judge)]];
}

function describePart({ agent, model, status, turns, costUsd, workflow }: PartProgress): string {
  const parts = [shortenText(agent, 60), model, status, formatCount(turns, "turn"), describeCost(costUsd)];
  return [...parts, ...(workflow === undefined ? [] : [workflow])].join(" · ");
}
