import { createHash, randomUUID } from "node:crypto";
import { type Grant, readGrants } from "../../../core/permission/grants.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { BodyLine, HeaderLine, SessionLine } from "../../../schema/export-line.ts";
import type { Archive } from "../archive.ts";
import { hashOf } from "../sql/canonical.ts";
import { ExportError } from "./export-error.ts";
import { readExport } from "./read-export.ts";
import { Renewed } from "./renewed.ts";

/** A file, from its beginning each time that it is opened. */
export type OpenFile = () => AsyncIterable<Uint8Array>;

/** What is written at once, so that no one waits long for the database. */
const PAGE = { lines: 200, bytes: 1024 * 1024 };

export type CheckedFile = {
  readonly header: HeaderLine;
  readonly digest: string;
  readonly lines: number;
  /** The definitions in it, by hash. */
  readonly definitions: ReadonlyMap<string, AgentDefinition>;
  /** What users have allowed in its sessions, as the file says. */
  readonly grants: readonly Grant[];
};

/** Reads a file to its end and writes nothing. */
export async function checkFile(open: OpenFile): Promise<CheckedFile> {
  let header: HeaderLine | undefined;
  let end: Pick<CheckedFile, "digest" | "lines"> | undefined;
  const definitions = new Map<string, AgentDefinition>();
  const grants: Grant[] = [];
  for await (const read of readExport(open())) {
    if (read.type === "header") header = read.header;
    else if (read.type === "line") {
      const { line } = read;
      if (line.type === "definition") definitions.set(line.hash, line.definition);
      if (line.type === "session") grants.push(...readGrants(line.grants));
    } else if (read.type === "end") end = { digest: read.digest, lines: read.lines };
  }
  if (header === undefined || end === undefined) throw new ExportError(1, "the file is empty");
  return { header, ...end, definitions, grants };
}

/** New ids by the old ones: those of sub-agents begin with their caller's. */
export function namesFor(sessions: readonly string[], as: string | undefined): ReadonlyMap<string, string> {
  const [root = ""] = sessions;
  const to = as ?? root;
  const below = (id: string) => (id.startsWith(`${root}.`) ? `${to}${id.slice(root.length)}` : `${to}.${id}`);
  return new Map(sessions.map((id) => [id, id === root ? to : to === root ? id : below(id)]));
}

/** Brings the sessions of a checked file in: all of it is there then, or nothing. */
export async function importFile(
  archive: Archive,
  open: OpenFile,
  { header, digest }: Pick<CheckedFile, "header" | "digest">,
  names: ReadonlyMap<string, string>,
  { withGrants = false }: { readonly withGrants?: boolean } = {},
): Promise<void> {
  const token = randomUUID();
  const sessions = header.sessions.map((id) => names.get(id) ?? id);
  const isRenewed = sessions.some((id, index) => id !== header.sessions[index]);
  const lines = new Lines(isRenewed ? names : undefined);
  await archive.beginImport(token, sessions, Date.now());
  try {
    let page: BodyLine[] = [];
    let bytes = 0;
    const write = async () => {
      if (page.length > 0) await archive.importLines(token, page, Date.now());
      page = [];
      bytes = 0;
    };
    for await (const read of readExport(open())) {
      if (read.type === "line") {
        const line = lines.renewed(read.line);
        page.push(withGrants ? line : withoutGrants(line));
        bytes += weightOf(read.line);
        if (page.length >= PAGE.lines || bytes >= PAGE.bytes) await write();
      } else if (read.type === "end" && read.digest !== digest) {
        throw new ExportError(read.lines, "the file was changed while it was imported");
      }
    }
    await write();
    await archive.finishImport(token, sessions, digest);
  } catch (error) {
    await archive.abandonImport(token, sessions).catch(() => undefined);
    throw error;
  }
}

/** What users have allowed elsewhere is not allowed here. */
function withoutGrants(line: BodyLine): BodyLine {
  if (line.type !== "session" && line.type !== "loop") return line;
  const { grants: _, ...rest } = line;
  return rest;
}

function weightOf(line: BodyLine): number {
  return line.type === "content" ? line.text.length : 1024;
}

/** Lines under the names that they are to have. */
class Lines {
  readonly #names: Renewed | undefined;
  readonly #sessions: ReadonlyMap<string, string>;
  readonly #hashes = new Map<string, string>();

  constructor(names: ReadonlyMap<string, string> | undefined) {
    this.#sessions = names ?? new Map();
    const [to = ""] = this.#sessions.values();
    this.#names = names && new Renewed({ sessions: names, run: (run) => anotherRun(to, run) });
  }

  renewed(line: BodyLine): BodyLine {
    const names = this.#names;
    if (names === undefined) return line;
    if (line.type === "content") return this.#content(names, line);
    const renewed = names.line(line);
    if (line.type === "session" && renewed.type === "session") return this.#copied(line, renewed);
    if (renewed.type !== "entry" || renewed.content === undefined) return renewed;
    return { ...renewed, content: this.#hashes.get(renewed.content) ?? renewed.content };
  }

  /**
   * Whose call it was made for, and which one was left for it, are told of a copy where these come along: it was the one
   * that was copied, not this.
   */
  #copied(line: SessionLine, { spawn, formation, ...renewed }: SessionLine): SessionLine {
    const stays = (session = "") => renewed.id === line.id || this.#sessions.has(session);
    const left = line.formation?.type === "inactivity_timeout" ? line.formation.previousSession : undefined;
    const isNoHeir = left !== undefined && !stays(left);
    const formed = isNoHeir ? { type: "explicit" as const, previousSession: left } : formation;
    return {
      ...renewed,
      ...(spawn !== undefined && stays(line.spawn?.session) ? { spawn } : {}),
      ...(formed === undefined ? {} : { formation: formed }),
    };
  }

  #content(names: Renewed, line: Extract<BodyLine, { type: "content" }>): BodyLine {
    const message = messageIn(line.text);
    if (message === undefined) return line;
    const text = JSON.stringify(names.message(message));
    const hash = hashOf(text);
    this.#hashes.set(line.hash, hash);
    return { ...line, hash, text };
  }
}

/** Texts that are no messages, such as what a loop was opened with, name nothing. */
function messageIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "role" in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** As a run's id looks; another one for each session that a file becomes. */
function anotherRun(session: string, run: string): string {
  const hex = createHash("sha256")
    .update(JSON.stringify([session, run]))
    .digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
