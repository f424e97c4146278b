import { convertServer, type ServerTable } from "./convert-server.ts";
import type { ForeignServer } from "./find-servers.ts";
import type { VariableContext } from "./translate-variables.ts";

/** A server as an [[mcp]] table, under the name that its own file gives it, with what a user has to know. */
export type ImportedServer = {
  readonly name: string;
  readonly table: ServerTable;
  readonly notes: readonly string[];
};

/** A server that is not imported, and why. */
export type LeftOutServer = { readonly name: string; readonly reason: string };

export type ConvertedServers =
  | {
      readonly ok: true;
      readonly imported: readonly ImportedServer[];
      readonly leftOut: readonly LeftOutServer[];
    }
  | { readonly ok: false; readonly problem: string };

/** Converts all servers, or none if two of them would have one name. */
export function convertServers(
  servers: readonly ForeignServer[],
  context: VariableContext,
): ConvertedServers {
  const imported: ImportedServer[] = [];
  const leftOut: LeftOutServer[] = [];
  for (const server of servers) {
    const { name, isDisabled } = server;
    const converted = convertServer(server, context);
    if (isDisabled) leftOut.push({ name, reason: "it is disabled there" });
    else if (!converted.ok) leftOut.push({ name, reason: converted.problem });
    else imported.push({ name, table: converted.table, notes: converted.notes });
  }
  const names = imported.map(({ table }) => table.name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double === undefined) return { ok: true, imported, leftOut };
  return {
    ok: false,
    problem: `Two servers would be called "${double}". Nothing is imported. Rename one of them, or import the others with --server.`,
  };
}
