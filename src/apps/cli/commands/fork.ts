import { resolve } from "node:path";
import type { Command } from "commander";
import type { RestoreWorkspaceOptions } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { addPositionOptions, POSITION_HINT, type PositionFlags, parsePosition } from "../position-flags.ts";
import { UsageError } from "../usage-error.ts";

type Flags = PositionFlags & {
  readonly name?: string;
  readonly as?: string;
  readonly restoreWorkspace?: string | true;
  readonly restoreInPlace?: boolean;
};

export function configureForkCommand(command: Command, runAction: RunAction): void {
  command.argument("<session>", SESSION_ARGUMENT);
  addPositionOptions(command)
    .option("--name <name>", "the branch's name (default: branch-1, branch-2, …)")
    .option("--as <id>", "the id of a new session that begins there; both sessions can run at the same time")
    .option(
      "--restore-workspace [dir]",
      "restore the files as they were, into a new folder (default: next to the repository)",
    )
    .option(
      "--restore-in-place",
      "restore the files in their original folder; fails unless that folder is clean",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast fork 5f0c… --after-turn 3 --name without-tests
  $ holdfast run "Now without the tests" --session 5f0c… --branch without-tests --model anthropic/claude-sonnet-5-5
  $ holdfast fork 5f0c… --at 12 --as 5f0c-second-try

An open run continues on its own branch. Files are not forked: every branch works in the folder of its agent, as it is
at that time. With snapshots = "git" in the [tools] section of the agent file, each turn stores the agent's files, and
--restore-workspace restores them.`,
    )
    .action(async (session: string, flags: Flags) => runAction((context) => fork(context, session, flags)));
}

async function fork(context: Context, reference: string, flags: Flags): Promise<number> {
  const { name, as } = flags;
  const restore = parseRestoreFlags(flags);
  return withSession(context, reference, async (holdfast, session) => {
    const forked = await holdfast.session(session).branches.fork({
      ...parsePosition(flags),
      ...omitUndefined({ name, as, restoreWorkspace: restore }),
    });
    if (context.json) context.printJson({ type: "forked", ...forked });
    else {
      const { branch, from, workspace } = forked;
      context.print(as === undefined ? branch : forked.session);
      const next =
        as === undefined ? `--session ${session} --branch ${branch}` : `--session ${forked.session}`;
      context.report(context.err.dim(`begins after ${from.position} messages of ${from.branch}`));
      context.report(context.err.dim(`to continue: holdfast run TASK ${next}`));
      const { restored } = forked;
      if (restored === undefined) reportWorkspace(context, workspace);
      else {
        const message = `files as they were at #${restored.position}: ${restored.workspace}`;
        const hint = as === undefined ? ` (add --workspace ${restored.workspace})` : "";
        context.report(context.err.dim(`${message}${hint}`));
      }
    }
    return EXIT.ok;
  });
}

function parseRestoreFlags({
  restoreWorkspace: folder,
  restoreInPlace = false,
}: Flags): RestoreWorkspaceOptions | undefined {
  if (folder !== undefined && restoreInPlace) {
    throw new UsageError("--restore-workspace and --restore-in-place exclude each other. Give one of them.");
  }
  if (restoreInPlace) return { to: "in-place" };
  if (folder === undefined) return undefined;
  return folder === true ? { to: "folder" } : { to: "folder", folder: resolve(folder) };
}

export function reportWorkspace(context: Context, workspace: string | undefined): void {
  if (workspace === undefined) return;
  context.report(
    context.err.yellow(`The files in ${workspace} do not change: only the conversation is reverted.`),
  );
}

export function configureRewindCommand(command: Command, runAction: RunAction): void {
  command.argument("<session>", SESSION_ARGUMENT);
  addPositionOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast rewind 5f0c… --after-turn 3
  $ holdfast rewind 5f0c… --at 12
  $ holdfast rewind 5f0c… --branch main

The last example moves forward again, to the end of a branch. \`holdfast show 5f0c… --branches\` lists all branches, and
\`holdfast show 5f0c… --branch ID\` prints one of them. The command fails while a run is open. Files are not restored.`,
    )
    .action(async (session: string, flags: PositionFlags) =>
      runAction((context) => rewind(context, session, flags)),
    );
}

async function rewind(context: Context, reference: string, flags: PositionFlags): Promise<number> {
  const position = parsePosition(flags);
  if (Object.keys(position).length === 0) throw new UsageError(`No position is given. ${POSITION_HINT}`);
  return withSession(context, reference, async (holdfast, session) => {
    const rewound = await holdfast.session(session).branches.rewind({ to: position });
    if (context.json) context.printJson({ type: "rewound", ...rewound });
    else {
      const { head, previousHead, workspace } = rewound;
      context.print(`head now: ${head.branch}, after ${head.position} messages`);
      context.report(
        context.err.dim(
          `before: ${previousHead.branch}, after ${previousHead.position}; it stays in the record`,
        ),
      );
      reportWorkspace(context, workspace);
    }
    return EXIT.ok;
  });
}
