import type { ImportedServer, LeftOutServer } from "../../config/mcp-import/convert-servers.ts";
import { writeToml, writeYaml } from "../../config/source/write-formats.ts";
import type { Context } from "./context.ts";
import { stripControls } from "./palette.ts";
import { formatCount } from "./text.ts";

/** What an import has done. */
export type McpImport = {
  /** The file that the servers come from. */
  readonly file: string;
  readonly imported: readonly ImportedServer[];
  readonly leftOut: readonly LeftOutServer[];
  /** The agent file that they were to be added to. */
  readonly target: { readonly file: string; readonly isWritten: boolean } | undefined;
};

const WRITERS = { toml: writeToml, yaml: writeYaml };

/** Prints the tables that were not written to an agent file, and reports what a user has to know. */
export function reportImport(context: Context, done: McpImport, format: keyof typeof WRITERS): void {
  const { file, imported, leftOut, target } = done;
  if (context.json) {
    context.printJson({
      type: "mcp-import",
      file,
      servers: imported.map(({ table, notes }) => ({ ...table, notes })),
      leftOut,
      ...(target === undefined ? {} : { into: target.file, written: target.isWritten }),
    });
    return;
  }
  const warnings = [
    ...imported.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}.`)),
    ...leftOut.map(({ name, reason }) => `${name} is left out: ${reason}.`),
  ];
  for (const warning of warnings) context.report(context.err.yellow(stripControls(warning)));
  if (target?.isWritten !== true && imported.length > 0)
    context.print(WRITERS[format]({ mcp: imported.map(({ table }) => table) }).trimEnd());
  if (target === undefined) return;
  const count = formatCount(imported.length, "server");
  context.report(
    target.isWritten
      ? `${count} added to ${target.file}. Check them: holdfast mcp test --agent ${target.file}`
      : `${count} would be added to ${target.file}. Nothing is written.`,
  );
}
