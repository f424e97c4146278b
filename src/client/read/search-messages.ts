import { buildSnippet, getSearchText } from "../../store/transcript/search-text.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { toLoopStatus } from "../runs/session-status.ts";
import { type FindOptions, toSessionFilter } from "./session-filter.ts";

/** Which sessions to search, and from where. */
export type SearchOptions = FindOptions & {
  /** Continues after the hit with this cursor. */
  readonly after?: number;
};

/** A message that contains the text. */
export type SearchHit = {
  readonly session: string;
  /** The name of the session's agent. */
  readonly agent: string;
  /** The id of the session's model. */
  readonly model: string;
  readonly branch: string;
  /** The position of the message on its branch, counted from 0. */
  readonly position: number;
  /** Who wrote the message. */
  readonly role: string;
  /** When the message was written; absent if it states no time. */
  readonly at?: Date;
  /** The matching text with its surroundings in the message. */
  readonly snippet: string;
  /** Continues the search after this hit: pass it as `after`. */
  readonly cursor: number;
};

/** Finds messages that contain all words of the query, the newest session first. Includes those of sub-agents. */
export async function searchMessages(
  link: ClientLink,
  query: string,
  options: SearchOptions = {},
): Promise<readonly SearchHit[]> {
  const { limit = 20, after, status } = options;
  try {
    const transcript = await link.storage.openExistingTranscript();
    if (transcript === undefined) return [];
    const hits: SearchHit[] = [];
    for (let afterCursor = after; hits.length < limit; ) {
      const searchQuery = {
        ...toSessionFilter({ children: true, ...options }),
        terms: query,
        limit,
        after: afterCursor,
      };
      const page = await transcript.archive.search(searchQuery);
      for (const { session, branch, position, message, cursor } of page) {
        afterCursor = cursor;
        if (status !== undefined && toLoopStatus(session.status, undefined) !== status) continue;
        hits.push({
          session: session.id,
          agent: session.agentName,
          model: session.model,
          branch,
          position,
          role: message.role,
          ...(message.timestamp === undefined ? {} : { at: new Date(message.timestamp) }),
          snippet: buildSnippet(getSearchText(message), query),
          cursor,
        });
        if (hits.length === limit) break;
      }
      if (page.length < limit) break;
    }
    return hits;
  } catch (error) {
    throw toHoldfastError(error, link, "");
  }
}
