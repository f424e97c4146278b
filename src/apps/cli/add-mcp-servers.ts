import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { loadAgents } from "../../config/agent-file/load-agents.ts";
import { isSecretField } from "../../config/agent-file/validate-file.ts";
import { addServers } from "../../config/mcp-import/add-servers.ts";
import type { ImportedServer } from "../../config/mcp-import/convert-servers.ts";
import type { Problem } from "../../config/problem.ts";
import { readTextFile } from "../../config/read-text.ts";
import { readSource } from "../../config/source/source-file.ts";
import type { SourceFormat } from "../../config/source/source-format.ts";
import { asList, asObject } from "../../platform/text/json.ts";
import type { AgentFileContext } from "./agent-file.ts";
import { AgentFileError } from "./agent-file-error.ts";
import { readNamedFile } from "./named-file.ts";
import { UsageError } from "./usage-error.ts";

export type AddOptions = { readonly isDryRun: boolean; readonly trust: AgentFileContext };

/**
 * Adds servers to an agent file, unless it has one of that name or becomes invalid by them. Problems that the file has
 * already are no obstacle: whoever imports servers may not be done with the file.
 *
 * @returns whether the file was written.
 */
export function addMcpServers(
  file: string,
  servers: readonly ImportedServer[],
  { isDryRun, trust }: AddOptions,
): boolean {
  const text = readNamedFile(resolve(file));
  const read = readSource(text, { name: file, env: trust.env, isSecret: isSecretField });
  if (!read.ok) throw new AgentFileError(file, read.problems);
  const { format, value } = read.source;
  const existing = asList(value["mcp"]).map((server) => asObject(server)?.["name"]);
  const double = servers.find(({ table }) => existing.includes(table.name));
  if (double !== undefined)
    throw new UsageError(
      `${file} has a server "${double.table.name}" already. Nothing is imported. Remove or rename it there, or import the others with --server.`,
    );
  if (servers.length === 0) return false;
  const tables = servers.map(({ table }) => table);
  const added = addServers(text, format, tables);
  const before = listErrors(file, text, format, trust);
  if (trust.untrusted === true && before.length > 0) throw new AgentFileError(file, before);
  const known = before.map(({ message }) => message);
  const caused = listErrors(file, added, format, trust).filter(({ message }) => !known.includes(message));
  if (caused.length > 0) throw new AgentFileError(file, caused);
  if (!isDryRun) writeFileSync(resolve(file), added);
  return !isDryRun;
}

function listErrors(
  file: string,
  text: string,
  format: SourceFormat,
  trust: AgentFileContext,
): readonly Problem[] {
  const { problems } = loadAgents(text, { name: file, format, ...trust, readFile: readTextFile });
  return problems.filter(({ severity, kind }) => severity === "error" && kind !== "missing-env-var");
}
