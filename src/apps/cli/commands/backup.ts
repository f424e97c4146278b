import { resolve } from "node:path";
import type { Command } from "commander";
import { writeBackup } from "../../../client/sessions/backup.ts";
import { restoreFromBackup } from "../../../client/sessions/restore-backup.ts";
import { getDatabaseUrl } from "../../../config/database-url.ts";
import { resolveHome } from "../../../config/home.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { readPackageVersion } from "../package-version.ts";
import { formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";

export function configureBackupCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<folder>", "the folder to create; it must not exist")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast backup /backups/holdfast-$(date +%F)
  $ holdfast backup ./before-the-upgrade --home ./.holdfast --json

A backup does not contain workspaces, keys or live output.`,
    )
    .action(async (folder: string) => runAction((context) => runBackup(context, folder)));
}

export function configureRestoreCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<folder>", "the backup's folder")
    .option("--only <part>", "restore only transcript or server, when the other part is intact")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast restore /backups/holdfast-2026-11-22 --home ./restored
  $ holdfast restore /backups/holdfast-2026-11-22 --only transcript

First stop every process that uses the original home: otherwise two servers would continue the same runs.`,
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
    const { transcript, server, writesBlockedMs } = manifest;
    const running = transcript.running === 0 ? "" : `, ${formatCount(transcript.running, "loop")} running`;
    context.print(
      `transcript  ${transcript.bytes} bytes, ${formatCount(transcript.sessions, "session")}${running}`,
    );
    context.print(`server      ${server === undefined ? "none in this home" : `${server.bytes} bytes`}`);
    context.print(`written     ${resolve(folder)}; writers waited for ${writesBlockedMs} ms`);
  }
  if (manifest.server === undefined) {
    context.report(
      "This home contains no dev server. Back up the Temporal server's database first, then the transcript.",
    );
  }
  return EXIT.ok;
}

async function runRestore(context: Context, folder: string, only: "transcript" | "server" | undefined) {
  const home = resolveHome(context.options.home);
  const manifest = await restoreFromBackup({ home, folder, ...omitUndefined({ only }) });
  if (context.json) context.printJson({ type: "restored", home: home.folder, only, ...manifest });
  else {
    context.print(
      `restored    ${only ?? "transcript and server"} of ${manifest.createdAt} into ${home.folder}`,
    );
    context.print(`next        holdfast dev --home ${home.folder}`);
  }
  return EXIT.ok;
}

/** Rejects a transcript in a database server, whose own backup tools are better. */
function assertEmbedded(database: string | undefined): void {
  if (getDatabaseUrl(database) === undefined) return;
  throw new UsageError(
    "The transcript is in a database (HOLDFAST_DATABASE_URL). Back it up with the database's own tools, after Temporal's store (docs/operations.md)",
  );
}

function parseOnly(text: string | undefined): "transcript" | "server" | undefined {
  if (text === undefined || text === "transcript" || text === "server") return text;
  throw new UsageError(`--only "${text}" must be transcript or server`);
}
