import type { Delta, StreamHub } from "./stream-hub.ts";

/** A hub that stores what is published for other processes: in files, or in a database. */
export interface StoredHub extends StreamHub {
  /**
   * Removes the output that an announcement completes, if any process has stored some. Unlike `publish` it need not leave
   * the announcement for watchers.
   */
  complete(announcement: Delta): void;
}

/** The sessions whose live output is watched, by processes of the same store. */
export interface WatchedSessions {
  /** Announces that this process watches a session. Returns a function that ends it. */
  announce(session: string): () => void;
  /** Whether any process watches the session, as far as it is known here. Starts to observe the others on first use. */
  isWatched(session: string): boolean;
  /** Calls back when sessions that were not watched are. */
  onChange(wake: () => void): void;
  close(): Promise<void>;
}
