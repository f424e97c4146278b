import { createHash, randomUUID } from "node:crypto";
import { type Grant, readGrants } from "../../../core/permission/grants.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { BodyLine, HeaderLine, SessionLine } from "../../../schema/export-line.ts";
import type { Archive } from "../archive.ts";
import { hashText } from "../sql/hash-text.ts";
import { ExportError } from "./export-error.ts";
import { IdRemapper } from "./id-remapper.ts";
import { readExport } from "./read-export.ts";

/** Opens a file; each call reads it from the beginning. */
export type OpenFile = () => AsyncIterable<Uint8Array>;

/** The size of one write, so that other writers do not wait long. */
const PAGE = { lines: 200, bytes: 1024 * 1024 };

export type CheckedFile = {
  readonly header: HeaderLine;
  readonly digest: string;
  readonly lines: number;
  /** The file's definitions, by hash. */
  readonly definitions: ReadonlyMap<string, AgentDefinition>;
  /** The grants of users in the file's sessions. */
  readonly grants: readonly Grant[];
};

/** Checks a whole file and writes nothing. */
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

/** Creates new ids by old ones. Ids of sub-agents begin with their caller's. */
export function createIdMap(
  sessions: readonly string[],
  as: string | undefined,
): ReadonlyMap<string, string> {
  const [root = ""] = sessions;
  const to = as ?? root;
  const below = (id: string) => (id.startsWith(`${root}.`) ? `${to}${id.slice(root.length)}` : `${to}.${id}`);
  return new Map(sessions.map((id) => [id, id === root ? to : to === root ? id : below(id)]));
}

/** Imports the sessions of a checked file, all or none. */
export async function importFile(
  archive: Archive,
  open: OpenFile,
  { header, digest }: Pick<CheckedFile, "header" | "digest">,
  idMap: ReadonlyMap<string, string>,
  { withGrants = false }: { readonly withGrants?: boolean } = {},
): Promise<void> {
  const token = randomUUID();
  const sessions = header.sessions.map((id) => idMap.get(id) ?? id);
  const isRemapped = sessions.some((id, index) => id !== header.sessions[index]);
  const lines = new LineRemapper(isRemapped ? idMap : undefined);
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
        const line = lines.remapLine(read.line);
        page.push(withGrants ? line : removeGrants(line));
        bytes += estimateBytes(read.line);
        if (page.length >= PAGE.lines || bytes >= PAGE.bytes) await write();
      } else if (read.type === "end" && read.digest !== digest) {
        throw new ExportError(read.lines, "the file changed during the import");
      }
    }
    await write();
    await archive.finishImport(token, sessions, digest);
  } catch (error) {
    await archive.abandonImport(token, sessions).catch(() => undefined);
    throw error;
  }
}

/** Removes grants: permissions of another store do not apply here. */
function removeGrants(line: BodyLine): BodyLine {
  if (line.type !== "session" && line.type !== "loop") return line;
  const { grants: _, ...rest } = line;
  return rest;
}

function estimateBytes(line: BodyLine): number {
  return line.type === "content" ? line.text.length : 1024;
}

/** Replaces the ids of lines. */
class LineRemapper {
  readonly #ids: IdRemapper | undefined;
  readonly #sessions: ReadonlyMap<string, string>;
  readonly #hashes = new Map<string, string>();

  constructor(names: ReadonlyMap<string, string> | undefined) {
    this.#sessions = names ?? new Map();
    const [to = ""] = this.#sessions.values();
    this.#ids = names && new IdRemapper({ sessions: names, run: (run) => deriveRunId(to, run) });
  }

  remapLine(line: BodyLine): BodyLine {
    const names = this.#ids;
    if (names === undefined) return line;
    if (line.type === "content") return this.#remapContent(names, line);
    const remapped = names.remapLine(line);
    if (line.type === "session" && remapped.type === "session") return this.#remapSession(line, remapped);
    if (remapped.type !== "entry" || remapped.content === undefined) return remapped;
    return { ...remapped, content: this.#hashes.get(remapped.content) ?? remapped.content };
  }

  /**
   * A copy keeps the references to its caller and to its predecessor only if those sessions are imported too: the original
   * session has these relations, not the copy.
   */
  #remapSession(line: SessionLine, { spawn, origin: formation, ...remapped }: SessionLine): SessionLine {
    const isIncluded = (session = "") => remapped.id === line.id || this.#sessions.has(session);
    const previous = line.origin?.type === "inactivity_timeout" ? line.origin.previousSession : undefined;
    const isPreviousMissing = previous !== undefined && !isIncluded(previous);
    const origin = isPreviousMissing ? { type: "explicit" as const, previousSession: previous } : formation;
    return {
      ...remapped,
      ...(spawn !== undefined && isIncluded(line.spawn?.session) ? { spawn } : {}),
      ...omitUndefined({ origin }),
    };
  }

  #remapContent(names: IdRemapper, line: Extract<BodyLine, { type: "content" }>): BodyLine {
    const message = parseMessage(line.text);
    if (message === undefined) return line;
    const text = JSON.stringify(names.remapMessage(message));
    const hash = hashText(text);
    this.#hashes.set(line.hash, hash);
    return { ...line, hash, text };
  }
}

/** Parses a text as a message. Other texts, such as the terms of a loop, contain no ids. */
function parseMessage(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "role" in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Derives an id in the format of a run id; a different one for each imported session. */
function deriveRunId(session: string, run: string): string {
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
