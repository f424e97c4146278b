import { once } from "node:events";
import { constants, createWriteStream } from "node:fs";
import { access, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import type { ImportResult } from "../../../client/index.ts";
import { formatSummaryLines } from "../../../client/read/definition-summary.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { printJsonLine } from "../output.ts";
import { stripControls } from "../palette.ts";
import { formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";

type RunAction = (work: (context: Context) => Promise<number>) => Promise<void>;
type ExportFlags = { readonly output?: string; readonly withChildren?: boolean };
type ImportFlags = {
  readonly as?: string;
  readonly renew?: boolean;
  readonly withGrants?: boolean;
  readonly accept?: boolean;
};

export function addExportCommand(program: Command, runAction: RunAction): void {
  program
    .command("export")
    .description("Write a session to a file that another machine can import")
    .argument("<session>", "the session's id")
    .option("-o, --output <file>", "the file; standard output unless said")
    .option("--with-children", "with the sessions of agents below it")
    .addHelpText(
      "after",
      `
The session may be at work: the file holds what was there when the export began.
The folder that its agent works in is not part of it.

Examples:
  $ holdfast export 5f0c… -o session.jsonl
  $ holdfast export 5f0c… --with-children | zstd > session.jsonl.zst`,
    )
    .action(async (session: string, flags: ExportFlags) =>
      runAction((context) => runExport(context, session, flags)),
    );
}

async function runExport(
  context: Context,
  session: string,
  { output, withChildren = false }: ExportFlags,
): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const lines = holdfast.session(session).export({ withChildren });
    if (output === undefined) {
      const { stdout } = context.streams;
      for await (const line of lines) if (!printJsonLine(stdout, line)) await once(stdout, "drain");
      return EXIT.ok;
    }
    const count = await writeFileAtomically(output, lines);
    if (context.json) context.printJson({ type: "exported", session, file: output, lines: count });
    else context.report(`${count} lines are in ${output}. Import it elsewhere: holdfast import ${output}`);
    return EXIT.ok;
  });
}

/** The file is there whole, or not at all. */
async function writeFileAtomically(file: string, lines: AsyncIterable<string>): Promise<number> {
  const aside = `${file}.part-${process.pid}`;
  let count = 0;
  const counted = async function* () {
    for await (const line of lines) {
      yield line;
      count += 1;
    }
  };
  try {
    await assertWritable(file);
    await pipeline(counted(), createWriteStream(aside, { mode: 0o600 }));
    await rename(aside, file);
    return count;
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw isSystemError(error) ? createWriteError(file, error) : error;
  }
}

/** Found before anything is read: a folder that is missing, and one that stands where the file should. */
async function assertWritable(file: string): Promise<void> {
  await access(dirname(resolve(file)), constants.W_OK);
  const existing = await stat(file).catch(() => undefined);
  if (existing?.isDirectory() === true) {
    throw new UsageError(`The export cannot be written to ${file}: it is a folder. Name a file in it.`);
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

function createWriteError(file: string, error: NodeJS.ErrnoException): UsageError {
  const reason = error.code === "ENOENT" ? `there is no folder ${dirname(resolve(file))}` : error.message;
  return new UsageError(
    `The export cannot be written to ${file}: ${reason}. Make the folder, or name another file with --output.`,
    { cause: error },
  );
}

export function addImportCommand(program: Command, runAction: RunAction): void {
  program
    .command("import")
    .description("Bring in a session that was exported: all of it, or nothing")
    .argument("<file>", "what `holdfast export` has written")
    .option("--as <id>", "under another id")
    .option("--renew", "under a new id")
    .option("--with-grants", "also allow what users have allowed in it with `always`; dropped by default")
    .option("--accept", "accept its agent: runs start without asking")
    .addHelpText(
      "after",
      `
The file is read to its end and checked before anything is written. An agent that is not known here
must be accepted before its first run: \`holdfast accept SESSION\`.

Examples:
  $ holdfast import session.jsonl
  $ holdfast import session.jsonl --as review-2 && holdfast continue review-2`,
    )
    .action(async (file: string, flags: ImportFlags) =>
      runAction((context) => runImport(context, file, flags)),
    );
}

async function runImport(context: Context, file: string, flags: ImportFlags): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const { session, sessions, already, lines, agents, grants } = await holdfast.import(file, flags);
    if (!context.json)
      for (const line of formatImportedAgents(agents, grants)) context.report(stripControls(line));
    if (context.json)
      context.printJson({ type: "imported", session, sessions, already, lines, agents, grants });
    else if (already)
      context.report(`Session ${session} is here already, the same: there was nothing to do.`);
    else {
      const others = sessions.length > 1 ? ` with ${sessions.length - 1} of agents below it` : "";
      const waits = agents.some(({ accepted }) => !accepted);
      const next = waits
        ? `Accept its agent first: holdfast accept ${session}`
        : `Go on with it: holdfast continue ${session}`;
      context.report(`Session ${session} is here${others}. ${next}`);
    }
    return EXIT.ok;
  });
}

/** What the file brings: each agent with what it reaches for, and what users have allowed. */
function formatImportedAgents(
  agents: ImportResult["agents"],
  { count: allowed, kept }: ImportResult["grants"],
): readonly string[] {
  const ofAgents = agents.flatMap(({ accepted, ...summary }) => {
    const [head = "", ...rest] = formatSummaryLines(summary);
    return [`brings ${head}${accepted ? "" : " (not accepted here)"}`, ...rest.map((line) => `  ${line}`)];
  });
  if (allowed === 0) return ofAgents;
  const became = kept ? "taken over" : "dropped; --with-grants takes them over";
  return [...ofAgents, `brings ${formatCount(allowed, "grant")}: ${became}`];
}

export function addAcceptCommand(program: Command, runAction: RunAction): void {
  program
    .command("accept")
    .description("Accept the agent that an imported session came with, so that runs start with it")
    .argument("<session>", "the session's id")
    .addHelpText(
      "after",
      `
It prints what the agent reaches for: its workspace, programs, addresses, \`\${NAME}\` references, tools and permissions.

Examples:
  $ holdfast accept 5f0c… && holdfast continue 5f0c…
  $ holdfast accept 5f0c… --json`,
    )
    .action(async (session: string) => runAction((context) => runAccept(context, session)));
}

async function runAccept(context: Context, id: string): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const { session, definitionHash, already, brings } = await holdfast.acceptDefinition(id);
    if (context.json) {
      context.printJson({ type: "accepted", session, definitionHash, already, brings });
      return EXIT.ok;
    }
    for (const line of brings) context.report(stripControls(line));
    context.report(
      already
        ? `The agent of session ${session} was accepted already.`
        : `Accepted: runs of session ${session} start with this agent from now on.`,
    );
    return EXIT.ok;
  });
}
