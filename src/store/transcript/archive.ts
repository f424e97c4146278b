import type { Cost } from "../../core/budget/usage.ts";
import type { BodyLine } from "../../schema/export-line.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { ContinuationKind, LoopStatus, SessionTitle } from "../../schema/record.ts";
import type { SessionRecord } from "./session.ts";
import type { SessionDefinition } from "./store-write.ts";

// Operations on whole sessions, concurrent with the runs that write to them: search, export, import, edit while idle,
// retention, deletion.
//
// Invariants
//   A1. A session that is being imported or deleted is hidden, and no loop of it can be opened.
//   A2. A repeated request finishes or restarts an interrupted operation.
//   A3. A text exists as long as a session or a job that refers to it.

/** A filter of sessions. Results are sorted by activity, the most recent first. */
export type SessionFilter = {
  readonly agentName?: string | undefined;
  readonly model?: string | undefined;
  readonly status?: LoopStatus | undefined;
  /** Only sessions that were active at or after this time; `untilMs` is exclusive. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** Only sessions whose loops have a total known cost above this, in dollars. */
  readonly costOverUsd?: number | undefined;
  /** Only sub-agents that this session has called; `null`: only sessions that no agent has called. */
  readonly spawnedBy?: string | null | undefined;
  /** Only sessions whose id begins with this text. */
  readonly idPrefix?: string | undefined;
};

type SessionTotals = {
  readonly turns: number;
  /** `null` if the cost of any ended loop is unknown. */
  readonly costUsd: Cost;
  readonly openLoops: number;
};

export type ListedSession = SessionRecord & { readonly totals: SessionTotals };

/** The start of the next page. */
export type SessionCursor = { readonly lastActiveAtMs: number; readonly id: string };

export type SearchHit = {
  readonly session: SessionRecord;
  readonly branch: string;
  readonly position: number;
  readonly message: AgentMessage;
  /** The start of the next page, after this hit. */
  readonly cursor: number;
};

export type SearchQuery = SessionFilter & {
  /** Words that must all occur; "quoted words" are adjacent, a star at the end of a word matches its beginning. */
  readonly terms: string;
  readonly limit: number;
  readonly after?: number | undefined;
};

type NewSessionFields = {
  readonly parentLoopId?: string | undefined;
  readonly scope?: "persistent" | undefined;
  readonly agentId?: string | undefined;
};

/** A change of an idle session: a loop of its own without a model call. */
export type SessionEdit = {
  readonly session: string;
  /** An idempotency key of the caller: a repeated edit is applied once. */
  readonly key: string;
  readonly atMs: number;
  readonly kind: ContinuationKind;
  /** `head`: after the existing entries. `empty`: on a new empty branch. */
  readonly at: "head" | "empty";
  readonly messages: readonly AgentMessage[];
  /** Empties the inbox. */
  readonly clearInbox?: boolean | undefined;
  /** The session's last loop as known to the caller. If there is a newer one, the edit is rejected. */
  readonly after?: string | undefined;
  /** Creates the session, which must not exist. */
  readonly create?: (SessionDefinition & NewSessionFields) | undefined;
};

/** Where an edit has put messages. */
export type EditResult = {
  readonly loopId: string;
  readonly branch: string;
  /** The number of entries on the branch after the edit. */
  readonly length: number;
};

/** The state of a session that was read before its deletion. */
export type IdleSnapshot = {
  readonly lastActiveAtMs: number;
  /** Loops that are recorded as running but whose runs have ended. */
  readonly endedLoopIds: readonly string[];
};

export type DeleteProgress = {
  readonly done: boolean;
  /** The number of rows that this page has deleted. */
  readonly rows: number;
};

export interface Archive {
  list(
    filter: SessionFilter,
    page: { readonly limit: number; readonly after?: SessionCursor | undefined },
  ): Promise<readonly ListedSession[]>;
  /** Searches messages, the newest session first. */
  search(query: SearchQuery): Promise<readonly SearchHit[]>;
  /** Counts the bytes of all messages of a session. */
  countBytes(session: string): Promise<number>;

  /** Reads all lines of a session in its initial state, ordered so that each can be checked against earlier ones. */
  readLines(session: string): AsyncIterable<BodyLine>;

  /** Begins an import of sessions and discards interrupted imports of them. Throws if one exists. */
  beginImport(token: string, sessions: readonly string[], atMs: number): Promise<void>;
  /** Writes lines in order; the lines of one call are written atomically. */
  importLines(token: string, lines: readonly BodyLine[], atMs: number): Promise<void>;
  /** Finishes an import and makes its sessions visible. @param digest - Identifies the file. */
  finishImport(token: string, sessions: readonly string[], digest: string): Promise<void>;
  abandonImport(token: string, sessions: readonly string[]): Promise<void>;
  /** Reads the digest of the file that a session was imported from. */
  readImportDigest(session: string): Promise<string | undefined>;

  edit(edit: SessionEdit): Promise<EditResult>;
  /**
   * Gives a session a title. A title that a user has given is replaced only by a user's, and a model's not by a derived one.
   * Returns the title that the session has then.
   */
  setTitle(session: string, title: SessionTitle): Promise<SessionTitle>;
  /** Protects a session from retention policies, or removes the protection. */
  setScope(session: string, scope: "ephemeral" | "persistent"): Promise<void>;

  /**
   * Hides a session that is to be deleted, and detaches its forks. Returns whether the session exists, even if it was
   * already hidden. A session that has changed since `snapshot` is left unchanged (`continued`).
   */
  beginDelete(session: string, snapshot?: IdleSnapshot): Promise<boolean | "continued">;
  /** Deletes some rows. Call it until it is done. */
  deletePage(session: string, atMs: number): Promise<DeleteProgress>;
  /** Lists sessions whose deletion or import has not finished. */
  listUnfinished(): Promise<
    readonly { readonly session: string; readonly operation: "importing" | "deleting" }[]
  >;

  /** Retains a text as long as any session of the job exists, or until a schedule's texts are released. */
  addTextOwner(owner: string, hash: string): Promise<void>;
  /** Ends an owner that is no job: its texts stay for a day, or as long as something else refers to them. */
  releaseTexts(owner: string, atMs: number): Promise<void>;
  /** Deletes at most `limit` texts without references and with an expired lease. Returns their number. */
  sweepTexts(atMs: number, limit: number): Promise<number>;
}
