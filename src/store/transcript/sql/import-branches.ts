import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { BranchLine, EntryLine } from "../../../schema/export-line.ts";
import type { AgentMessage } from "../../../schema/message.ts";
import { StoreError } from "../store-error.ts";
import { type BranchRow, createBranch, findBranch } from "./branches.ts";
import { encodeMessage } from "./checksums.ts";
import { readText } from "./contents.ts";
import { markForEncryption } from "./encrypted-columns.ts";
import { indexEntry } from "./search-index.ts";
import { exec, json, type Work } from "./statement.ts";

// Imports branches and their entries, which must follow each other without a gap.

/** The branches to which lines have added entries, with their new lengths, which are not stored yet. */
export type ImportedBranches = Map<string, BranchRow>;

export function* importBranch(line: BranchLine): Work<void> {
  const { session, id, parent, run, requestedAtMs, inheritedView } = line;
  const from = parent === undefined ? undefined : yield* getImportedBranch(session, parent.branch, new Map());
  yield* createBranch({
    session,
    id,
    position: parent?.position ?? line.position ?? 0,
    ...omitUndefined({ parent: from, run, requestedAtMs: requestedAtMs }),
  });
  if (inheritedView === undefined) return;
  yield* exec(
    "UPDATE branches SET inherited_view = ? WHERE session = ? AND id = ?",
    markForEncryption(json(inheritedView), "branches.inherited_view", session, id),
    session,
    id,
  );
}

export function* importEntry(line: EntryLine, branches: ImportedBranches): Work<void> {
  const at = yield* getImportedBranch(line.session, line.branch, branches);
  if (line.position !== at.length) {
    const expected = `expected ${at.length}, found ${line.position}`;
    throw new StoreError("other", `Branch ${line.branch} of session ${line.session} has a gap: ${expected}.`);
  }
  yield* exec(
    `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    at.ref,
    line.position,
    line.run,
    line.origin,
    line.messageId ?? null,
    line.tokens,
    at.tokens,
    line.content === undefined
      ? encodeMessage(json(line.message), { ...line, message_id: line.messageId ?? null })
      : null,
    line.content ?? null,
  );
  yield* indexEntry(at.ref, line.position, (yield* parseMessage(line)) as AgentMessage);
  if (line.content !== undefined) {
    yield* exec("UPDATE contents SET is_referenced = 1 WHERE hash = ? AND is_referenced = 0", line.content);
  }
  if (line.messageId !== undefined) {
    yield* exec(
      "INSERT INTO message_ids (session, id) VALUES (?, ?) ON CONFLICT DO NOTHING",
      line.session,
      line.messageId,
    );
  }
  const next = { ...at, length: at.length + 1, tokens: at.tokens + line.tokens };
  branches.set(json([line.session, line.branch]), next);
}

function* parseMessage({ message, content }: EntryLine): Work<unknown> {
  if (content === undefined) return message;
  const text = yield* readText(content);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Stores the new lengths, after the last line. */
export function* storeBranchLengths(branches: ImportedBranches): Work<void> {
  for (const { ref, length, tokens } of branches.values()) {
    yield* exec("UPDATE branches SET length = ?, tokens = ? WHERE ref = ?", length, tokens, ref);
  }
}

function* getImportedBranch(session: string, id: string, branches: ImportedBranches): Work<BranchRow> {
  const key = json([session, id]);
  const found = branches.get(key) ?? (yield* findBranch(session, id));
  if (found === undefined) throw new StoreError("other", `Session ${session} has no branch ${id}.`);
  branches.set(key, found);
  return found;
}
