import { resolve } from "node:path";
import type { Command } from "commander";
import { writeBackup } from "../../../client/sessions/backup.ts";
import { restoreFromBackup } from "../../../client/sessions/restore-backup.ts";
import { getDatabaseUrl } from "../../../config/database-url.ts";
import { resolveHome } from "../../../config/home.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { readPackageVersion } from "../package-version.ts";
import { formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";

type RunAction = (work: (context: Context) => Promise<number>) => Promise<void>;

export function addBackupCommand(program: Command, runAction: RunAction): void {
  program
    .command("backup")
    .description("Copy transcript and dev server of this home as of one moment, while runs are in flight")
    .argument("<folder>", "where to; it must not be there yet")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast backup /backups/holdfast-$(date +%F)
  $ holdfast backup ./before-the-upgrade --home ./.holdfast --json

Workspaces, keys and live output are not in it.`,
    )
    .action(async (folder: string) => runAction((context) => runBackup(context, folder)));
}

export function addRestoreCommand(program: Command, runAction: RunAction): void {
  program
    .command("restore")
    .description("Put a backup into a home that has none of it, and check every byte before")
    .argument("<folder>", "the backup")
    .option("--only <part>", "transcript or server: one of the two, where the other is as it was")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast restore /backups/holdfast-2026-11-22 --home ./restored
  $ holdfast restore /backups/holdfast-2026-11-22 --only transcript

End everything that used the original first: two servers would carry on the same runs.`,
    )
    .action(async (folder: string, flags: { only?: string }) =>
      runAction((context) => runRestore(context, folder, parseOnly(flags.only))),
    );
}

async function runBackup(context: Context, folder: string): Promise<number> {
  const home = resolveHome(context.options.home);
  assertEmbedded(context.options.database);
  const manifest = await writeBackup({ home, folder, version: readPackageVersion() });
  if (context.json) context.printJson({ type: "backup", folder: resolve(folder), ...manifest });
  else {
    const { transcript, server, heldMs } = manifest;
    const running = transcript.running === 0 ? "" : `, ${formatCount(transcript.running, "loop")} at work`;
    context.print(
      `transcript  ${transcript.bytes} bytes, ${formatCount(transcript.sessions, "session")}${running}`,
    );
    context.print(`server      ${server === undefined ? "none in this home" : `${server.bytes} bytes`}`);
    context.print(`written     ${resolve(folder)}; writers waited for ${heldMs} ms`);
  }
  if (manifest.server === undefined) {
    context.report(
      "This home has no server of its own. Back up the Temporal server's database first, then the transcript.",
    );
  }
  return EXIT.ok;
}

async function runRestore(context: Context, folder: string, only: "transcript" | "server" | undefined) {
  const home = resolveHome(context.options.home);
  const manifest = await restoreFromBackup({ home, folder, ...(only === undefined ? {} : { only }) });
  if (context.json) context.printJson({ type: "restored", home: home.folder, only, ...manifest });
  else {
    context.print(
      `restored    ${only ?? "transcript and server"} of ${manifest.createdAt} into ${home.folder}`,
    );
    context.print(`next        holdfast dev --home ${home.folder}`);
  }
  return EXIT.ok;
}

/** A database has its own ways to be backed up, and they are better. */
function assertEmbedded(database: string | undefined): void {
  if (getDatabaseUrl(database) === undefined) return;
  throw new UsageError(
    "The transcript lies in a database (HOLDFAST_DATABASE_URL): back it up with the database's own means, Temporal's store first (docs/operations.md)",
  );
}

function parseOnly(text: string | undefined): "transcript" | "server" | undefined {
  if (text === undefined || text === "transcript" || text === "server") return text;
  throw new UsageError(`--only "${text}" must be transcript or server`);
}
