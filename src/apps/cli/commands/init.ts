import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { STARTER } from "../../../config/agent-file/starter-file.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";

const DEFAULT_FILE = "agent.toml";

export function configureInitCommand(command: Command, runAction: RunAction): void {
  command
    .argument("[file]", "the file to create; an existing file does not change", DEFAULT_FILE)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast init
  $ holdfast init agents/reviewer.toml`,
    )
    .action(async (file: string) => runAction((context) => init(context, file)));
}

async function init(context: Context, file: string): Promise<number> {
  if (!file.endsWith(".toml"))
    throw new UsageError(
      `The agent file is TOML, but ${file} does not end in .toml. Specify a file that does`,
    );
  const path = resolve(file);
  try {
    await writeFile(path, STARTER, { flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw new UsageError(
        `${path} already exists and was not changed. Specify another file: holdfast init FILE`,
      );
    throw new UsageError(`${path} cannot be written: ${message}`);
  }
  if (context.json) context.printJson({ type: "written", file: path });
  else {
    context.print(`Wrote ${file}.`);
    context.report(
      context.err.dim(
        `To check it: \`holdfast config check ${file}\`. To chat with it: \`holdfast chat --agent ${file}\`.`,
      ),
    );
  }
  return EXIT.ok;
}
