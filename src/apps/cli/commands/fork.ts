import { resolve } from "node:path";
import type { Command } from "commander";
import type { RestoreWorkspaceOptions } from "../../../client/index.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { addPositionOptions, type PositionFlags, parsePosition } from "../position-flags.ts";
import { UsageError } from "../usage-error.ts";

type RunAction = (work: (context: Context) => Promise<number>) => Promise<void>;
type Flags = PositionFlags & {
  readonly name?: string;
  readonly as?: string;
  readonly restoreWorkspace?: string | true;
  readonly restoreInPlace?: boolean;
};

export function addForkCommand(program: Command, runAction: RunAction): void {
  const command = program
    .command("fork")
    .description(
      "Begin a branch of a session's conversation at any place; nothing is copied, nothing else changes",
    )
    .argument("<session>", "the session's id");
  addPositionOptions(command, {
    turn: "behind this turn, its answer and results included",
    loop: "behind this loop",
  })
    .option("--name <name>", "the branch's name (default: branch-1, branch-2, …)")
    .option("--as <id>", "the id of a new session that begins there: both can be at work at the same time")
    .option(
      "--restore-workspace [dir]",
      "bring back the files as they were, into a new folder (default: beside the repository)",
    )
    .option("--restore-in-place", "bring them back where they lay; refused unless that folder is clean")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast fork 5f0c… --turn 3 --name without-tests
  $ holdfast run "Now without the tests" --session 5f0c… --branch without-tests --model anthropic/claude-sonnet-4-5
  $ holdfast fork 5f0c… --at 12 --as 5f0c-second-try

A run that is at work goes on on its own branch. Files are not forked: every branch works in the folder of its agent, as
it is now. An agent that has snapshots = "git" in the [tools] of its file keeps its files with each turn; then
--restore-workspace brings them back.`,
    )
    .action(async (session: string, flags: Flags) => runAction((context) => fork(context, session, flags)));
}

async function fork(context: Context, session: string, flags: Flags): Promise<number> {
  const { name, as } = flags;
  const restore = parseRestoreFlags(flags);
  return withHoldfast(context, async (holdfast) => {
    const forked = await holdfast.session(session).fork({
      ...parsePosition(flags),
      ...(name === undefined ? {} : { name }),
      ...(as === undefined ? {} : { as }),
      ...(restore === undefined ? {} : { restoreWorkspace: restore }),
    });
    if (context.json) context.printJson({ type: "forked", ...forked });
    else {
      const { branch, from, workspace } = forked;
      context.print(as === undefined ? branch : forked.session);
      const next =
        as === undefined ? `--session ${session} --branch ${branch}` : `--session ${forked.session}`;
      context.report(context.err.dim(`begins behind ${from.position} messages of ${from.branch}`));
      context.report(context.err.dim(`go on with: holdfast run TASK ${next}`));
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
    throw new UsageError("Say --restore-workspace or --restore-in-place, not both.");
  }
  if (restoreInPlace) return { to: "in-place" };
  if (folder === undefined) return undefined;
  return folder === true ? { to: "folder" } : { to: "folder", folder: resolve(folder) };
}

export function reportWorkspace(context: Context, workspace: string | undefined): void {
  if (workspace === undefined) return;
  context.report(
    context.err.yellow(`Files in ${workspace} are as they are now: only the conversation goes back.`),
  );
}

export function addRewindCommand(program: Command, runAction: RunAction): void {
  const command = program
    .command("rewind")
    .description(
      "Move the head of a session at rest to an earlier place, or forward again; the record keeps everything",
    )
    .argument("<session>", "the session's id")
    .option("--to <position>", "the same as --at");
  addPositionOptions(command, {
    turn: "behind this turn, its answer and results included",
    loop: "behind this loop",
  })
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast rewind 5f0c… --turn 3
  $ holdfast rewind 5f0c… --to 12
  $ holdfast rewind 5f0c… --branch main

The last one goes to a branch's end: forward again. \`holdfast show 5f0c… --branches\` shows all there are, and
\`holdfast show 5f0c… --branch ID\` what was left. Refused while a run is open. Files are not put back.`,
    )
    .action(async (session: string, flags: PositionFlags & { readonly to?: string }) =>
      runAction((context) => rewind(context, session, flags)),
    );
}

async function rewind(
  context: Context,
  session: string,
  { to, ...flags }: PositionFlags & { readonly to?: string },
): Promise<number> {
  const position = parsePosition(to === undefined ? flags : { ...flags, at: to });
  if (Object.keys(position).length === 0) {
    throw new UsageError("Say where to go: --to POSITION, --turn N, --loop ID or --branch ID.");
  }
  return withHoldfast(context, async (holdfast) => {
    const rewound = await holdfast.session(session).rewind({ to: position });
    if (context.json) context.printJson({ type: "rewound", ...rewound });
    else {
      const { head, before, workspace } = rewound;
      context.print(`head now: ${head.branch}, behind ${head.position} messages`);
      context.report(
        context.err.dim(`before: ${before.branch}, behind ${before.position}; it stays in the record`),
      );
      reportWorkspace(context, workspace);
    }
    return EXIT.ok;
  });
}
