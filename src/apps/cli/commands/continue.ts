import type { Command } from "commander";
import type { Limits, Session } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable, reportDetached } from "../detach.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { followRun } from "../follow-run.ts";
import {
  addLimitOptions,
  formatLimits,
  LIMIT_OPTIONS,
  type LimitFlags,
  parseLimits,
} from "../limit-flags.ts";
import { openStack } from "../local-stack.ts";
import { type SandboxFlag, WORKER_SANDBOX_OPTION } from "../sandbox-flag.ts";
import { UsageError } from "../usage-error.ts";

type Flags = LimitFlags &
  SandboxFlag & { readonly detach?: boolean; readonly loop?: string; readonly branch?: string };

export function configureContinueCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("--branch <id>", "continue at the end of this branch, which becomes the session's head")
    .option("--detach", "start the run and exit; the server and its workers continue it")
    .option(...WORKER_SANDBOX_OPTION);
  addLimitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast continue 5f0c… --max-turns 100
  $ holdfast continue 5f0c… --max-cost 20 --detach

A session whose last message is an answer needs a prompt: \`holdfast run TASK --session 5f0c…\`.`,
    )
    .action(async (session: string, flags: Flags) =>
      runAction((context) =>
        startRun(context, session, flags, (one, limits) =>
          one.continue({ ...limits, ...omitUndefined({ branch: flags.branch }) }),
        ),
      ),
    );
}

export function configureRerunCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("--loop <id>", "the loop's id, as printed by show (default: the newest loop)")
    .option("--detach", "start the run and exit; the server and its workers continue it")
    .option(...WORKER_SANDBOX_OPTION);
  addLimitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast rerun 5f0c…
  $ holdfast rerun 5f0c… --loop 5f0c….anthropic.claude-sonnet-5-5.1

Files that the agent changed are not restored.`,
    )
    .action(async (session: string, flags: Flags) =>
      runAction((context) =>
        startRun(context, session, flags, (one, limits) =>
          one.branches.rerun({ ...limits, ...omitUndefined({ loop: flags.loop }) }),
        ),
      ),
    );
}

export function configureRaiseLimitCommand(command: Command, runAction: RunAction): void {
  command.argument("<session>", SESSION_ARGUMENT);
  addLimitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast raise-limit 5f0c… --max-turns 200
  $ holdfast raise-limit 5f0c… --max-cost 50 --json

For an idle session, give the limits to continue: \`holdfast continue 5f0c… --max-turns 200\`.`,
    )
    .action(async (session: string, flags: LimitFlags) =>
      runAction((context) => raiseLimit(context, session, flags)),
    );
}

async function startRun(
  context: Context,
  reference: string,
  flags: Flags,
  start: (session: Session, options: { readonly limits?: Partial<Limits> }) => Promise<Session>,
): Promise<number> {
  const limits = parseLimits(flags);
  const stack = await openStack(context, { sandbox: flags.sandbox });
  try {
    if (flags.detach === true) assertDetachable(stack);
    const options = Object.keys(limits).length === 0 ? {} : { limits };
    const id = await stack.holdfast.sessions.find(reference);
    const session = await start(stack.holdfast.session(id), options);
    return flags.detach === true
      ? reportDetached(context, session)
      : await followRun(context, stack, session);
  } finally {
    await stack.close();
  }
}

async function raiseLimit(context: Context, reference: string, flags: LimitFlags): Promise<number> {
  const limits = parseLimits(flags);
  if (Object.keys(limits).length === 0) {
    throw new UsageError(`No limit is given. Specify at least one of ${LIMIT_OPTIONS.join(", ")}.`);
  }
  return withSession(context, reference, async (holdfast, session) => {
    const now = await holdfast.session(session).raiseLimits(limits);
    if (context.json) context.printJson({ type: "limits", session, ...now });
    else context.print(`limits now: ${formatLimits(now)}`);
    return EXIT.ok;
  });
}
