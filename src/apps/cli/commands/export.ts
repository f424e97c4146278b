import { once } from "node:events";
import { constants, createWriteStream } from "node:fs";
import { access, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import type { ImportResult } from "../../../client/index.ts";
import { formatSummaryLines } from "../../../client/read/definition-summary.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { printJsonLine } from "../output.ts";
import { stripControls } from "../palette.ts";
import { formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";

type ExportFlags = { readonly output?: string; readonly withChildren?: boolean };
type ImportFlags = {
  readonly as?: string;
  readonly newIds?: boolean;
  readonly withGrants?: boolean;
  readonly accept?: boolean;
};

export function configureExportCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("-o, --output <file>", "the file (default: standard output)")
    .option("--with-children", "include the sessions of its sub-agents")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast export 5f0c… -o session.jsonl
  $ holdfast export 5f0c… --with-children | zstd > session.jsonl.zst

The session may be running: the file contains its state when the export began.
The agent's workspace is not exported.`,
    )
    .action(async (session: string, flags: ExportFlags) =>
      runAction((context) => runExport(context, session, flags)),
    );
}

async function runExport(
  context: Context,
  reference: string,
  { output, withChildren = false }: ExportFlags,
): Promise<number> {
  return withSession(context, reference, async (holdfast, session) => {
    const lines = holdfast.session(session).export({ withChildren });
    if (output === undefined) {
      const { stdout } = context.streams;
      for await (const line of lines) if (!printJsonLine(stdout, line)) await once(stdout, "drain");
      return EXIT.ok;
    }
    const count = await writeFileAtomically(output, lines);
    if (context.json) context.printJson({ type: "exported", session, file: output, lines: count });
    else
      context.report(
        `Wrote ${count} lines to ${output}. To import them elsewhere: holdfast import ${output}`,
      );
    return EXIT.ok;
  });
}

/** Writes the whole file, or leaves no file. Returns the number of lines. */
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

/** Rejects, before anything is read, a target whose folder is missing or that is itself a folder. */
async function assertWritable(file: string): Promise<void> {
  await access(dirname(resolve(file)), constants.W_OK);
  const existing = await stat(file).catch(() => undefined);
  if (existing?.isDirectory() === true) {
    throw new UsageError(`The export cannot be written to ${file}: it is a folder. Specify a file in it.`);
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

function createWriteError(file: string, error: NodeJS.ErrnoException): UsageError {
  const reason =
    error.code === "ENOENT" ? `the folder ${dirname(resolve(file))} does not exist` : error.message;
  return new UsageError(
    `The export cannot be written to ${file}: ${reason}. Create the folder, or specify another file with --output.`,
    { cause: error },
  );
}

export function configureImportCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<file>", "a file that `holdfast export` wrote")
    .option("--as <id>", "import it with this id")
    .option("--new-ids", "import it with a new id")
    .option("--with-grants", "also import what users approved with `always` (default: dropped)")
    .option("--accept", "accept its agent, so that runs start without confirmation")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast import session.jsonl
  $ holdfast import session.jsonl --as review-2 && holdfast continue review-2

Holdfast reads and checks the whole file before it writes anything. You must accept an unknown agent
before its first run: \`holdfast accept SESSION\`.`,
    )
    .action(async (file: string, flags: ImportFlags) =>
      runAction((context) => runImport(context, file, flags)),
    );
}

async function runImport(context: Context, file: string, flags: ImportFlags): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const { session, sessions, wasImported, lines, agents, grants } = await holdfast.sessions.import(
      file,
      flags,
    );
    if (!context.json)
      for (const line of formatImportedAgents(agents, grants)) context.report(stripControls(line));
    if (context.json)
      context.printJson({ type: "imported", session, sessions, wasImported, lines, agents, grants });
    else if (wasImported)
      context.report(`Session ${session} already exists with the same content: nothing was imported.`);
    else {
      const others = sessions.length > 1 ? ` with ${sessions.length - 1} of its sub-agents` : "";
      const waits = agents.some(({ accepted }) => !accepted);
      const next = waits
        ? `Accept its agent first: holdfast accept ${session}`
        : `To continue it: holdfast continue ${session}`;
      context.report(`Session ${session} is imported${others}. ${next}`);
    }
    return EXIT.ok;
  });
}

/** Lists each agent of the file with the resources that it uses, and the approvals that users granted. */
function formatImportedAgents(
  agents: ImportResult["agents"],
  { count: allowed, areImported }: ImportResult["grants"],
): readonly string[] {
  const ofAgents = agents.flatMap(({ accepted, ...summary }) => {
    const [head = "", ...rest] = formatSummaryLines(summary);
    return [
      `brings ${head}${accepted ? "" : " (not accepted on this machine)"}`,
      ...rest.map((line) => `  ${line}`),
    ];
  });
  if (allowed === 0) return ofAgents;
  const became = areImported ? "imported" : "dropped; --with-grants imports them";
  return [...ofAgents, `brings ${formatCount(allowed, "grant")}: ${became}`];
}

export function configureAcceptCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast accept 5f0c… && holdfast continue 5f0c…
  $ holdfast accept 5f0c… --json

The command prints what the agent uses: workspace, programs, addresses, \`\${NAME}\` references, tools and permissions.`,
    )
    .action(async (session: string) => runAction((context) => runAccept(context, session)));
}

async function runAccept(context: Context, reference: string): Promise<number> {
  return withSession(context, reference, async (holdfast, id) => {
    const { session, definitionHash, wasAccepted, contents } = await holdfast.sessions.acceptDefinition(id);
    if (context.json) {
      context.printJson({ type: "accepted", session, definitionHash, wasAccepted, contents });
      return EXIT.ok;
    }
    for (const line of contents) context.report(stripControls(line));
    context.report(
      wasAccepted
        ? `The agent of session ${session} is already accepted.`
        : `Accepted: runs of session ${session} may start with this agent.`,
    );
    return EXIT.ok;
  });
}
