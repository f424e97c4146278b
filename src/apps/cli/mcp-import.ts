import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { loadAgents } from "../../config/agent-file/load-agents.ts";
import { isSecretField } from "../../config/agent-file/validate-file.ts";
import { addServers } from "../../config/mcp-import/add-servers.ts";
import { convertServer } from "../../config/mcp-import/convert-server.ts";
import { type ForeignServer, findServers } from "../../config/mcp-import/find-servers.ts";
import type { Problem } from "../../config/problem.ts";
import { readTextFile } from "../../config/read-text.ts";
import { readSource } from "../../config/source/source-file.ts";
import { FORMATS, getFormat, type SourceFormat } from "../../config/source/source-format.ts";
import { writeToml, writeYaml } from "../../config/source/write-formats.ts";
import { asList, asObject, asText, type JsonObject } from "../../platform/text/json.ts";
import type { AgentFileContext } from "./agent-file.ts";
import { AgentFileError } from "./agent-file-error.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { stripControls } from "./palette.ts";
import { formatCount } from "./text.ts";
import { readTrust, type UntrustedFlag } from "./untrusted-flag.ts";
import { UsageError } from "./usage-error.ts";

export type McpImportFlags = UntrustedFlag & {
  readonly into?: string;
  readonly server?: readonly string[];
  readonly project?: string;
  readonly yaml?: boolean;
  readonly dryRun?: boolean;
};

type Imported = { readonly name: string; readonly table: JsonObject; readonly notes: readonly string[] };
type LeftOut = { readonly name: string; readonly reason: string };

/** Converts the servers of another program's file, and prints them or adds them to an agent file. */
export async function importMcpServers(
  context: Context,
  file: string,
  flags: McpImportFlags,
): Promise<number> {
  const path = resolve(file);
  const found = findServers(readFile(path), { path, project: resolve(flags.project ?? ".") });
  if (!found.ok) throw new UsageError(found.problem);
  const { imported, leftOut } = convertServers(selectServers(found.servers, flags, file), found.folder);
  const trust = readTrust(context, flags);
  const target =
    flags.into === undefined ? undefined : addToFile(flags.into, imported, flags.dryRun === true, trust);
  if (context.json) {
    context.printJson({
      type: "mcp-import",
      file,
      servers: imported.map(({ table, notes }) => ({ ...table, notes })),
      leftOut,
      ...(target === undefined ? {} : { into: target.file, written: target.isWritten }),
    });
    return EXIT.ok;
  }
  for (const { name, notes } of imported)
    for (const note of notes)
      context.report(context.err.yellow(`${stripControls(name)}: ${stripControls(note)}.`));
  for (const { name, reason } of leftOut)
    context.report(context.err.yellow(`${stripControls(name)} is left out: ${stripControls(reason)}.`));
  if (target?.isWritten !== true && imported.length > 0) {
    const tables = { mcp: imported.map(({ table }) => table) };
    context.print((flags.yaml === true ? writeYaml(tables) : writeToml(tables)).trimEnd());
  }
  const count = formatCount(imported.length, "server");
  if (target !== undefined)
    context.report(
      target.isWritten
        ? `${count} added to ${target.file}. Check them: holdfast mcp test --agent ${target.file}`
        : `${count} would be added to ${target.file}. Nothing is written.`,
    );
  return EXIT.ok;
}

function readFile(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${path} cannot be read: ${code === "ENOENT" ? "there is no such file" : message}.`);
  }
}

function selectServers(
  servers: readonly ForeignServer[],
  { server: names }: McpImportFlags,
  file: string,
): readonly ForeignServer[] {
  const unknown = names?.filter((name) => !servers.some((server) => server.name === name)) ?? [];
  if (unknown.length > 0) {
    const known = servers.map(({ name }) => name).join(", ");
    throw new UsageError(`${file} has no server "${unknown[0]}". It has ${known || "none"}.`);
  }
  return names === undefined ? servers : servers.filter(({ name }) => names.includes(name));
}

function convertServers(servers: readonly ForeignServer[], folder: string) {
  const imported: Imported[] = [];
  const leftOut: LeftOut[] = [];
  for (const server of servers) {
    const { name, isDisabled } = server;
    const converted = convertServer(server, { folder, home: homedir() });
    if (isDisabled) leftOut.push({ name, reason: "it is disabled there" });
    else if (!converted.ok) leftOut.push({ name, reason: converted.problem });
    else imported.push({ name, table: converted.table, notes: converted.notes });
  }
  const names = imported.map(({ table }) => String(table["name"]));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new UsageError(
      `Two servers would be called "${twice}". Nothing is imported. Rename one of them, or import the others with --server.`,
    );
  return { imported, leftOut };
}

function addToFile(file: string, imported: readonly Imported[], isDryRun: boolean, trust: AgentFileContext) {
  const text = readFile(resolve(file));
  const format = findFormat(file, text);
  const existing = listServerNames(file, text, format, trust);
  const double = imported.find(({ table }) => existing.includes(String(table["name"])));
  if (double !== undefined)
    throw new UsageError(
      `${file} has a server "${String(double.table["name"])}" already. Nothing is imported. Remove or rename it there, or import the others with --server.`,
    );
  if (imported.length === 0) return { file, isWritten: false };
  const tables = imported.map(({ table }) => table);
  const added = addServers(text, format, tables);
  const before = listErrors(file, text, format, trust);
  if (trust.untrusted === true && before.length > 0) throw new AgentFileError(file, before);
  const known = before.map(({ message }) => message);
  const caused = listErrors(file, added, format, trust).filter(({ message }) => !known.includes(message));
  if (caused.length > 0) throw new AgentFileError(file, caused);
  if (!isDryRun) writeFileSync(resolve(file), added);
  return { file, isWritten: !isDryRun };
}

function findFormat(file: string, text: string): SourceFormat {
  const format =
    getFormat(file) ??
    FORMATS.find(
      (one) => readSource(text, { name: file, format: one, env: process.env, isSecret: isSecretField }).ok,
    );
  if (format === undefined) throw new UsageError(`${file} is neither TOML, YAML nor JSON.`);
  return format;
}

function listServerNames(
  file: string,
  text: string,
  format: SourceFormat,
  { env }: AgentFileContext,
): readonly string[] {
  const read = readSource(text, { name: file, format, env, isSecret: isSecretField });
  if (!read.ok) throw new AgentFileError(file, read.problems);
  return asList(read.source.value["mcp"]).flatMap((server) => asText(asObject(server)?.["name"]) ?? []);
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
