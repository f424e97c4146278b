import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Command } from "commander";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { printJsonLine } from "../output.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type ExportFlags = { readonly output?: string; readonly withChildren?: boolean };
type ImportFlags = { readonly as?: string; readonly renew?: boolean };

export function exportCommand(program: Command, act: Act): void {
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
      act((context) => exported(context, session, flags)),
    );
}

async function exported(
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
    const count = await writtenTo(output, lines);
    if (context.json) context.printJson({ type: "exported", session, file: output, lines: count });
    else context.tell(`${count} lines are in ${output}. Import it elsewhere: holdfast import ${output}`);
    return EXIT.ok;
  });
}

/** The file is there whole, or not at all. */
async function writtenTo(file: string, lines: AsyncIterable<string>): Promise<number> {
  const aside = `${file}.part-${process.pid}`;
  const stream = createWriteStream(aside, { mode: 0o600 });
  let count = 0;
  try {
    for await (const line of lines) {
      await written(stream, line);
      count += 1;
    }
    stream.end();
    await finished(stream);
    await rename(aside, file);
    return count;
  } catch (error) {
    stream.destroy();
    await rm(aside, { force: true });
    throw error;
  }
}

async function written(stream: Writable, line: string): Promise<void> {
  if (!stream.write(line)) await once(stream, "drain");
}

export function importCommand(program: Command, act: Act): void {
  program
    .command("import")
    .description("Bring in a session that was exported: all of it, or nothing")
    .argument("<file>", "what `holdfast export` has written")
    .option("--as <id>", "under another id")
    .option("--renew", "under a new id")
    .addHelpText(
      "after",
      `
The file is read to its end and checked before anything is written.

Examples:
  $ holdfast import session.jsonl
  $ holdfast import session.jsonl --as review-2 && holdfast continue review-2`,
    )
    .action(async (file: string, flags: ImportFlags) => act((context) => imported(context, file, flags)));
}

async function imported(context: Context, file: string, flags: ImportFlags): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const { session, sessions, already, lines } = await holdfast.import(file, flags);
    if (context.json) context.printJson({ type: "imported", session, sessions, already, lines });
    else if (already) context.tell(`Session ${session} is here already, the same: there was nothing to do.`);
    else {
      const others = sessions.length > 1 ? ` with ${sessions.length - 1} of agents below it` : "";
      context.tell(`Session ${session} is here${others}. Go on with it: holdfast continue ${session}`);
    }
    return EXIT.ok;
  });
}
