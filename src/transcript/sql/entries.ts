import { estimateMessage } from "../../core/estimate.ts";
import type { Entry, EntryOrigin } from "../../schema/record.ts";
import type { NewEntry } from "../write.ts";
import { type Branch, findBranch, type Stretch, stretches } from "./branches.ts";
import { messageIn, storedMessage } from "./checksums.ts";
import { putContent, textOf } from "./contents.ts";
import { ahead } from "./out-of-step.ts";
import { indexEntry } from "./search-index.ts";
import { all, exec, get, json, type Work } from "./statement.ts";

/** Messages whose JSON is longer than this lie in `contents`, once each. */
const INLINE_BYTES = 2048;

/** Writes entries to a branch that `branchForRun` has found; what is there already stays. */
export function* putEntries(
  session: string,
  start: Branch,
  run: string,
  entries: readonly NewEntry[],
): Work<Branch> {
  let branch = start;
  for (const entry of entries) {
    if (branch.parent !== null && entry.position < branch.position) continue;
    const there = yield* get<{ message_id: string | null }>(
      "SELECT message_id FROM entries WHERE branch = ? AND position = ?",
      branch.ref,
      entry.position,
    );
    if (there !== undefined && there.message_id !== (entry.messageId ?? null)) {
      throw ahead(`entry ${entry.position} of branch ${branch.id} is another message`);
    }
    if (there === undefined) branch = yield* insert(session, branch, run, entry);
  }
  return yield* advance(branch, start);
}

function* insert(session: string, branch: Branch, run: string, entry: NewEntry): Work<Branch> {
  const tokens = estimateMessage(entry.message);
  const message = json(entry.message);
  const large = Buffer.byteLength(message) > INLINE_BYTES;
  const next = entry.position === branch.length;
  yield* exec(
    `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    branch.ref,
    entry.position,
    run,
    entry.origin,
    entry.messageId ?? null,
    tokens,
    next ? branch.tokens : null,
    large ? null : storedMessage(message, { ...entry, run, message_id: entry.messageId ?? null }),
    large ? yield* putContent(message) : null,
  );
  yield* indexEntry(branch.ref, entry.position, entry.message);
  if (entry.messageId !== undefined) {
    yield* exec(
      "INSERT INTO message_ids (session, id) VALUES (?, ?) ON CONFLICT DO NOTHING",
      session,
      entry.messageId,
    );
  }
  return next ? { ...branch, length: branch.length + 1, tokens: branch.tokens + tokens } : branch;
}

/** Moves the end of the unbroken prefix over entries that were waiting behind a gap, and writes it down. */
export function* advance(branch: Branch, written: Branch = branch): Work<Branch> {
  let { length, tokens } = branch;
  for (;;) {
    const next = yield* get<{ tokens: number }>(
      "SELECT tokens FROM entries WHERE branch = ? AND position = ?",
      branch.ref,
      length,
    );
    if (next === undefined) break;
    yield* exec(
      "UPDATE entries SET tokens_before = ? WHERE branch = ? AND position = ?",
      tokens,
      branch.ref,
      length,
    );
    length += 1;
    tokens += next.tokens;
  }
  if (length !== written.length) {
    yield* exec("UPDATE branches SET length = ?, tokens = ? WHERE ref = ?", length, tokens, branch.ref);
  }
  return { ...branch, length, tokens };
}

type EntryRow = {
  run: string;
  position: number;
  origin: EntryOrigin;
  message_id: string | null;
  tokens: number;
  message: string | null;
  content: string | null;
};

/** The rows of one stretch from `from` on, at most `limit`. */
export function* entryRows(stretch: Stretch, from: number, limit: number): Work<readonly EntryRow[]> {
  return yield* all<EntryRow>(
    `SELECT run, position, origin, message_id, tokens, message, content FROM entries
     WHERE branch = ? AND position >= ? AND position < ? ORDER BY position LIMIT ?`,
    stretch.branch,
    from,
    stretch.to,
    limit,
  );
}

export function* entryOf(row: EntryRow): Work<Entry> {
  const message = messageIn(row) ?? (yield* textOf(row.content!))!;
  return {
    position: row.position,
    origin: row.origin,
    message: JSON.parse(message),
    tokens: row.tokens,
    ...(row.message_id === null ? {} : { messageId: row.message_id }),
  };
}

/** The runs that have written what a branch shows at these positions. */
export function* writersOf(
  session: string,
  id: string,
  positions: readonly number[],
): Work<readonly (string | undefined)[]> {
  const branch = yield* findBranch(session, id);
  const found: (string | undefined)[] = [];
  for (const position of positions) {
    const [holder] = branch === undefined ? [] : yield* stretches(branch, position, position + 1);
    const row =
      holder === undefined
        ? undefined
        : yield* get<{ run: string }>(
            "SELECT run FROM entries WHERE branch = ? AND position = ?",
            holder.branch,
            position,
          );
    found.push(row?.run);
  }
  return found;
}
