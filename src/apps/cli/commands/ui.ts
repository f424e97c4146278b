import type { Command } from "commander";
import { loadProfile } from "../../../client/connection/load-profile.ts";
import { resolveHome } from "../../../config/home.ts";
import { readRecord } from "../../../devserver/server-record.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { buildListUrl, buildSetupScript, buildViewLinks } from "../temporal-ui.ts";
import { UsageError } from "../usage-error.ts";

/** Where `temporal server start-dev` serves its UI unless it is told otherwise. */
const DEFAULT_UI_URL = "http://127.0.0.1:8233";

type Flags = { readonly script?: boolean };

export function configureUiCommand(command: Command, runAction: RunAction): void {
  command
    .argument("[url]", "the address of the UI; by default that of this home's dev server")
    .option("--script", "print only the script for the browser's console")
    .addHelpText(
      "after",
      `
The UI stores views and columns in the browser. A link saves its view when you open it. The script saves all views and the
columns: paste it into the console of the browser's developer tools while the UI is open.

Examples:
  $ holdfast ui
  $ holdfast ui --script | pbcopy
  $ holdfast ui https://temporal.example.com --namespace agents`,
    )
    .action(async (url: string | undefined, flags: Flags) =>
      runAction((context) => printUiSetup(context, url, flags)),
    );
}

async function printUiSetup(context: Context, url: string | undefined, flags: Flags): Promise<number> {
  const { options, streams, out } = context;
  const namespace = options.namespace ?? loadProfile(options.profile, streams.env).namespace ?? "default";
  const list = buildListUrl(url === undefined ? await findUiUrl(options.home) : checkUrl(url), namespace);
  const views = buildViewLinks(list);
  const script = buildSetupScript(namespace);
  if (context.json) context.printJson({ type: "ui", url: list, views, script });
  else if (flags.script === true) context.print(script);
  else {
    context.print(
      `${out.bold("Temporal UI")}  ${list}\n\n${out.bold("Views")}, each saved when you open its link:`,
    );
    for (const view of views) context.print(`  ${view.name.padEnd(18)}  ${view.url}`);
    context.print(
      `\n${out.bold("Views and columns")} at once: run this in the console of the browser on that page:\n`,
    );
    context.print(script);
  }
  return EXIT.ok;
}

async function findUiUrl(home: string | undefined): Promise<string> {
  return (await readRecord(resolveHome(home).server))?.uiUrl ?? DEFAULT_UI_URL;
}

function checkUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(`"${url}" is not the address of a UI. Write it whole, such as ${DEFAULT_UI_URL}.`);
}
