import type { BodyLine } from "../../../schema/export-line.ts";
import type {
  Archive,
  DeleteProgress,
  Edit,
  Edited,
  ListedSession,
  SearchHit,
  SearchQuery,
  SeenAtRest,
  SessionCursor,
  SessionFilter,
} from "../archive.ts";
import { StoreError } from "../store-error.ts";
import { findBranch, stretches } from "./branches.ts";
import type { Engine } from "./engine.ts";
import { entryOf, entryRows } from "./entries.ts";
import { exportLines } from "./export-lines.ts";
import { hiddenMark, importing, type Unfinished, unfinishedOf } from "./hidden.ts";
import { bytesOf, listPage } from "./listing.ts";
import { sessionRecord } from "./records.ts";
import { type Found, FROM_THE_NEWEST, findWords } from "./search.ts";
import { get, type Work } from "./statement.ts";

/** Entries that are indexed at once. */
const FILL_PAGE = 200;

export class SqlArchive implements Archive {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  list(
    filter: SessionFilter,
    page: { readonly limit: number; readonly behind?: SessionCursor | undefined },
  ): Promise<readonly ListedSession[]> {
    return this.#engine.read(() => listPage(filter, page));
  }

  async search(query: SearchQuery): Promise<readonly SearchHit[]> {
    const toFill = await this.#engine.read(() => get("SELECT 1 AS there FROM search_fill"));
    if (toFill !== undefined) while (!(await this.#engine.write("fillSearch", FILL_PAGE)));
    const found = await this.#engine.read(() => findWords(query, query.behind ?? FROM_THE_NEWEST));
    const hits: SearchHit[] = [];
    for (const one of found) {
      const hit = await this.#engine.read(() => hitOf(one));
      if (hit !== undefined) hits.push(hit);
      await this.#engine.breath();
    }
    return hits;
  }

  bytesOf(session: string): Promise<number> {
    return this.#engine.read(() => bytesOf(session));
  }

  lines(session: string): AsyncIterable<BodyLine> {
    return exportLines(this.#engine, session);
  }

  async beginImport(_token: string, sessions: readonly string[], atMs: number): Promise<void> {
    for (const session of sessions) {
      if (await this.#isSeen(session)) throw new StoreError("other", `Session ${session} is there already.`);
    }
    for (const session of sessions) await this.#throwAway(session, atMs);
  }

  importLines(token: string, lines: readonly BodyLine[], atMs: number): Promise<void> {
    return this.#engine.write("importLines", token, lines, atMs);
  }

  finishImport(token: string, sessions: readonly string[], digest: string): Promise<void> {
    return this.#engine.write("finishImport", token, sessions, digest);
  }

  async abandonImport(token: string, sessions: readonly string[]): Promise<void> {
    for (const session of sessions) {
      const mark = await this.#engine.read(() => hiddenMark(session));
      if (mark === importing(token)) await this.#throwAway(session, Date.now());
    }
  }

  async importedFrom(session: string): Promise<string | undefined> {
    const row = await this.#engine.read(() =>
      get<{ imported: string | null }>("SELECT imported FROM sessions WHERE id = ?", session),
    );
    return row?.imported ?? undefined;
  }

  edit(change: Edit): Promise<Edited> {
    return this.#engine.write("edit", change);
  }

  setScope(session: string, scope: "ephemeral" | "persistent"): Promise<void> {
    return this.#engine.write("setScope", session, scope);
  }

  beginDelete(session: string, seen?: SeenAtRest): Promise<boolean | "gone-on"> {
    return this.#engine.write("beginDelete", session, seen);
  }

  deletePage(session: string, atMs: number): Promise<DeleteProgress> {
    return this.#engine.write("deletePage", session, atMs);
  }

  unfinished(): Promise<readonly Unfinished[]> {
    return this.#engine.read(() => unfinishedOf());
  }

  nameText(owner: string, hash: string): Promise<void> {
    return this.#engine.write("nameText", owner, hash);
  }

  sweepTexts(atMs: number, limit: number): Promise<number> {
    return this.#engine.write("sweepTexts", atMs, limit);
  }

  async #isSeen(session: string): Promise<boolean> {
    const row = await this.#engine.read(() =>
      get("SELECT 1 AS there FROM sessions WHERE id = ? AND hidden IS NULL", session),
    );
    return row !== undefined;
  }

  /** What is hidden; nothing where nothing is. */
  async #throwAway(session: string, atMs: number): Promise<void> {
    if (!(await this.beginDelete(session))) return;
    while (!(await this.deletePage(session, atMs)).done);
  }
}

function* hitOf({ row, position }: Found): Work<SearchHit | undefined> {
  const branch = yield* findBranch(row.id, row.branch);
  const [stretch] = branch === undefined ? [] : yield* stretches(branch, position, position + 1);
  const [found] = stretch === undefined ? [] : yield* entryRows(stretch, position, 1);
  if (found === undefined) return undefined;
  const { message } = yield* entryOf(found);
  return { session: sessionRecord(row), branch: row.branch, position, message, cursor: row.place };
}
