import { homedir } from "node:os";
import { resolve } from "node:path";
import { convertServers } from "../../config/mcp-import/convert-servers.ts";
import { type ForeignServer, findServers } from "../../config/mcp-import/find-servers.ts";
import { addMcpServers } from "./add-mcp-servers.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { reportImport } from "./mcp-import-view.ts";
import { readNamedFile } from "./named-file.ts";
import { readTrust, type UntrustedFlag } from "./untrusted-flag.ts";
import { UsageError } from "./usage-error.ts";

export type McpImportFlags = UntrustedFlag & {
  readonly into?: string;
  readonly server?: readonly string[];
  readonly project?: string;
  readonly yaml?: boolean;
  readonly dryRun?: boolean;
};

/** Converts the servers of another program's file, and prints them or adds them to an agent file. */
export async function importMcpServers(
  context: Context,
  file: string,
  flags: McpImportFlags,
): Promise<number> {
  const { into, server, project = ".", yaml = false, dryRun = false } = flags;
  const path = resolve(file);
  const found = findServers(readNamedFile(path), { path, project: resolve(project) });
  if (!found.ok) throw new UsageError(found.problem);
  const { folder } = found;
  const converted = convertServers(selectServers(found.servers, server, file), { folder, home: homedir() });
  if (!converted.ok) throw new UsageError(converted.problem);
  const trust = readTrust(context, flags);
  const target =
    into === undefined
      ? undefined
      : { file: into, isWritten: addMcpServers(into, converted.imported, { isDryRun: dryRun, trust }) };
  const { imported, leftOut } = converted;
  reportImport(context, { file, imported, leftOut, target }, yaml ? "yaml" : "toml");
  return EXIT.ok;
}

function selectServers(
  servers: readonly ForeignServer[],
  names: readonly string[] | undefined,
  file: string,
): readonly ForeignServer[] {
  const unknown = names?.find((name) => !servers.some((server) => server.name === name));
  if (unknown !== undefined) {
    const known = servers.map(({ name }) => name).join(", ");
    throw new UsageError(`${file} has no server "${unknown}". It has ${known || "none"}.`);
  }
  return names === undefined ? servers : servers.filter(({ name }) => names.includes(name));
}
