import type { Cost } from "../../core/budget/usage.ts";
import type { BodyLine } from "../../schema/export-line.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { ContinuationKind, LoopStatus } from "../../schema/record.ts";
import type { SessionRecord } from "./session.ts";
import type { SessionDefinition } from "./store-write.ts";

// What is done with whole sessions, beside the runs that write to them: found, taken out, brought in, changed at rest,
// kept or deleted.
//
// Invariants
//   A1. A session that is being brought in or deleted is seen by nobody, and no loop of it can be opened.
//   A2. What was interrupted half-way is finished, or begun anew, by asking again.
//   A3. A text that a session or a job names is there as long as one of them is.

/** Sessions by what is known of them; newest activity first. */
export type SessionFilter = {
  readonly agentName?: string | undefined;
  readonly model?: string | undefined;
  readonly status?: LoopStatus | undefined;
  /** Active at or after, and before. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** More than so many dollars, of what is known of all its loops. */
  readonly costOverUsd?: number | undefined;
  /** Of an agent whose sub-agents are asked for; `null`: those that no agent has called. */
  readonly spawnedBy?: string | null | undefined;
};

type SessionTotals = {
  readonly turns: number;
  /** `null` when that of any loop that is over is unknown. */
  readonly costUsd: Cost;
  readonly openLoops: number;
};

export type ListedSession = SessionRecord & { readonly totals: SessionTotals };

/** Where the next page begins. */
export type SessionCursor = { readonly lastActiveAtMs: number; readonly id: string };

export type SearchHit = {
  readonly session: SessionRecord;
  readonly branch: string;
  readonly position: number;
  readonly message: AgentMessage;
  /** Where a next page begins: behind this one. */
  readonly cursor: number;
};

export type SearchQuery = SessionFilter & {
  /** Words that must all be there; "in quotes" side by side, with a star at its end a beginning. */
  readonly words: string;
  readonly limit: number;
  readonly behind?: number | undefined;
};

type NewSessionFields = {
  readonly parentLoopId?: string | undefined;
  readonly scope?: "persistent" | undefined;
  readonly agentId?: string | undefined;
};

/** A change of a session at rest: a loop of its own, that asks no model. */
export type SessionEdit = {
  readonly session: string;
  /** Made by who asks: the same edit asked again is done once. */
  readonly key: string;
  readonly atMs: number;
  readonly kind: ContinuationKind;
  /** `head`: behind what is there. `empty`: on a branch of its own that begins with nothing. */
  readonly at: "head" | "empty";
  readonly messages: readonly AgentMessage[];
  /** Empties the inbox. */
  readonly clearInbox?: boolean | undefined;
  /** The session's last loop, as whoever asks has seen it; the edit is refused when another has come. */
  readonly after?: string | undefined;
  /** Makes the session, which must not be there. */
  readonly create?: (SessionDefinition & NewSessionFields) | undefined;
};

export type EditResult = { readonly loopId: string; readonly branch: string; readonly length: number };

/** A session as somebody has looked at it before it is deleted. */
export type IdleSnapshot = {
  readonly lastActiveAtMs: number;
  /** Loops that the record says are running, and whose runs are over. */
  readonly over: readonly string[];
};

export type DeleteProgress = {
  readonly done: boolean;
  /** Rows that this page has deleted. */
  readonly rows: number;
};

export interface Archive {
  list(
    filter: SessionFilter,
    page: { readonly limit: number; readonly behind?: SessionCursor | undefined },
  ): Promise<readonly ListedSession[]>;
  /** Newest session first. */
  search(query: SearchQuery): Promise<readonly SearchHit[]>;
  /** Bytes of all messages of a session. */
  countBytes(session: string): Promise<number>;

  /** All lines of a session, as it is at the beginning, in an order in which each can be checked against those before. */
  readLines(session: string): AsyncIterable<BodyLine>;

  /** Begins to bring sessions in. What an import of them has left half-way is thrown away. Throws for one that is there. */
  beginImport(token: string, sessions: readonly string[], atMs: number): Promise<void>;
  /** Lines in order; those of one call are written at once. */
  importLines(token: string, lines: readonly BodyLine[], atMs: number): Promise<void>;
  /** All of them are there from now on. @param digest - What the same file is known by. */
  finishImport(token: string, sessions: readonly string[], digest: string): Promise<void>;
  abandonImport(token: string, sessions: readonly string[]): Promise<void>;
  /** The digest of the file that a session came from. */
  readImportDigest(session: string): Promise<string | undefined>;

  edit(edit: SessionEdit): Promise<EditResult>;
  /** Keeps a session from every retention policy, or no longer. */
  setScope(session: string, scope: "ephemeral" | "persistent"): Promise<void>;

  /**
   * Hides a session that is to be deleted; others that have begun with a part of it stand alone from here on. Gives
   * whether there is one, hidden already perhaps. One that is not as it was `seen` has gone on, and is left as it is.
   */
  beginDelete(session: string, snapshot?: IdleSnapshot): Promise<boolean | "gone-on">;
  /** Deletes some rows; to be asked until it is done. */
  deletePage(session: string, atMs: number): Promise<DeleteProgress>;
  /** Sessions whose deletion or import was begun and not ended. */
  listUnfinished(): Promise<readonly { readonly session: string; readonly what: "importing" | "deleting" }[]>;

  /** Keeps a text as long as any session of the job is there. */
  addTextOwner(owner: string, hash: string): Promise<void>;
  /** Deletes texts that nobody names and whose lease has run out; gives how many, at most `limit`. */
  sweepTexts(atMs: number, limit: number): Promise<number>;
}
