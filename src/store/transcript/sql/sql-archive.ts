import type { BodyLine } from "../../../schema/export-line.ts";
import type { SessionTitle } from "../../../schema/record.ts";
import type {
  Archive,
  DeleteProgress,
  EditResult,
  IdleSnapshot,
  ListedSession,
  SearchHit,
  SearchQuery,
  SessionCursor,
  SessionEdit,
  SessionFilter,
} from "../archive.ts";
import { StoreError } from "../store-error.ts";
import { findBranch, findRanges } from "./branches.ts";
import type { Engine } from "./engine.ts";
import { readEntryRows, toEntry } from "./entries.ts";
import { exportLines } from "./export-lines.ts";
import { countBytes, readListPage } from "./list-page.ts";
import { toSessionRecord } from "./read-records.ts";
import { type FoundPosition, FROM_THE_NEWEST, findMatches } from "./search.ts";
import { createImportMark, listUnfinished, readMark, type UnfinishedSession } from "./session-visibility.ts";
import { get, type Work } from "./statement.ts";

/** The number of entries that are indexed in one write. */
const FILL_PAGE = 200;

export class SqlArchive implements Archive {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  list(
    filter: SessionFilter,
    page: { readonly limit: number; readonly after?: SessionCursor | undefined },
  ): Promise<readonly ListedSession[]> {
    return this.#engine.read(() => readListPage(filter, page));
  }

  async search(query: SearchQuery): Promise<readonly SearchHit[]> {
    const toFill = await this.#engine.read(() => get("SELECT 1 AS there FROM search_index_progress"));
    if (toFill !== undefined) while (!(await this.#engine.write("fillSearchIndex", FILL_PAGE)));
    const found = await this.#engine.read(() => findMatches(query, query.after ?? FROM_THE_NEWEST));
    const hits: SearchHit[] = [];
    for (const one of found) {
      const hit = await this.#engine.read(() => toSearchHit(one));
      if (hit !== undefined) hits.push(hit);
      await this.#engine.yieldIfDue();
    }
    return hits;
  }

  countBytes(session: string): Promise<number> {
    return this.#engine.read(() => countBytes(session));
  }

  readLines(session: string): AsyncIterable<BodyLine> {
    return exportLines(this.#engine, session);
  }

  async beginImport(_token: string, sessions: readonly string[], atMs: number): Promise<void> {
    for (const session of sessions) {
      if (await this.#isVisible(session)) throw new StoreError("other", `Session ${session} already exists.`);
    }
    for (const session of sessions) await this.#discard(session, atMs);
  }

  importLines(token: string, lines: readonly BodyLine[], atMs: number): Promise<void> {
    return this.#engine.write("importLines", token, lines, atMs);
  }

  finishImport(token: string, sessions: readonly string[], digest: string): Promise<void> {
    return this.#engine.write("finishImport", token, sessions, digest);
  }

  async abandonImport(token: string, sessions: readonly string[]): Promise<void> {
    for (const session of sessions) {
      const mark = await this.#engine.read(() => readMark(session));
      if (mark === createImportMark(token)) await this.#discard(session, Date.now());
    }
  }

  async readImportDigest(session: string): Promise<string | undefined> {
    const row = await this.#engine.read(() =>
      get<{ import_digest: string | null }>("SELECT import_digest FROM sessions WHERE id = ?", session),
    );
    return row?.import_digest ?? undefined;
  }

  edit(change: SessionEdit): Promise<EditResult> {
    return this.#engine.write("edit", change);
  }

  setTitle(session: string, title: SessionTitle): Promise<SessionTitle> {
    return this.#engine.write("setTitle", session, title);
  }

  setScope(session: string, scope: "ephemeral" | "persistent"): Promise<void> {
    return this.#engine.write("setScope", session, scope);
  }

  beginDelete(session: string, snapshot?: IdleSnapshot): Promise<boolean | "continued"> {
    return this.#engine.write("beginDelete", session, snapshot);
  }

  deletePage(session: string, atMs: number): Promise<DeleteProgress> {
    return this.#engine.write("deletePage", session, atMs);
  }

  listUnfinished(): Promise<readonly UnfinishedSession[]> {
    return this.#engine.read(() => listUnfinished());
  }

  addTextOwner(owner: string, hash: string): Promise<void> {
    return this.#engine.write("addTextOwner", owner, hash);
  }

  releaseTexts(owner: string, atMs: number): Promise<void> {
    return this.#engine.write("releaseTexts", owner, atMs);
  }

  sweepTexts(atMs: number, limit: number): Promise<number> {
    return this.#engine.write("sweepTexts", atMs, limit);
  }

  async #isVisible(session: string): Promise<boolean> {
    const row = await this.#engine.read(() =>
      get("SELECT 1 AS there FROM sessions WHERE id = ? AND hidden IS NULL", session),
    );
    return row !== undefined;
  }

  /** Deletes a hidden session, if it exists. */
  async #discard(session: string, atMs: number): Promise<void> {
    if (!(await this.beginDelete(session))) return;
    while (!(await this.deletePage(session, atMs)).done);
  }
}

function* toSearchHit({ row, position }: FoundPosition): Work<SearchHit | undefined> {
  const branch = yield* findBranch(row.id, row.branch);
  const [range] = branch === undefined ? [] : yield* findRanges(branch, position, position + 1);
  const [found] = range === undefined ? [] : yield* readEntryRows(range, position, 1);
  if (found === undefined) return undefined;
  const { message } = yield* toEntry(found);
  return { session: toSessionRecord(row), branch: row.branch, position, message, cursor: row.rowId };
}
