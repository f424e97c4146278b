/**
 * Live output, on its way from activities to whoever watches. Nothing here is a record: what matters is in the
 * transcript.
 */
export type Delta = {
  readonly session: string;
  /** The Temporal run that the activity saw. */
  readonly run: string;
  readonly loopId: string;
  readonly turn: number;
  /** The machine's command number, and which of its calls (0 for a model call). */
  readonly command: number;
  readonly call: number;
  readonly generation: number;
  /** 1-based attempt at the vendor within the generation. */
  readonly attempt: number;
  /** 0-based within (run, command, call, generation, attempt). */
  readonly sequence: number;
  readonly atMs: number;
  readonly body: DeltaBody;
};

export type DeltaBody =
  /** A new attempt begins: what an earlier attempt at the same call had shown is void. */
  | { readonly type: "attempt" }
  /** Why nothing comes: what the question waits for, in a few words. */
  | { readonly type: "waiting"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
    }
  | {
      readonly type: "tool-start";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
    }
  | {
      readonly type: "tool-output";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
    }
  | {
      readonly type: "progress";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
    }
  /**
   * Events up to `sequence` of the loop can now be read in the transcript. What the loop has shown before this is not
   * kept any longer: all of it, or its answers and what these calls have shown.
   */
  | { readonly type: "recorded"; readonly sequence: number; readonly over: "all" | readonly string[] }
  /** The publisher had to leave out this many deltas here, because nobody took them in time. */
  | { readonly type: "dropped"; readonly count: number };

/**
 * A delta and where it stands in its session's stream: a whole number above 0 and at most 2^53 - 1.
 *
 * Offsets grow in the order in which every watcher is given the deltas: who was given one is given none at or below it
 * later, whichever process published it. Gaps mean nothing. None is used twice, also when all that was kept is gone.
 * (A place in a file; or an id that a table gives out under a lock on the session, so that ids become visible in order.)
 */
export type OffsetDelta = { readonly offset: number; readonly delta: Delta };

/** What a session has shown of what is not recorded yet, pieces joined, and the offset to go on from. */
export type StreamSnapshot = { readonly deltas: readonly OffsetDelta[]; readonly offset: number };

export type StreamWatchOptions = {
  readonly session: string;
  /** Go on behind this offset; absent: from the beginning of what is kept. */
  readonly from?: number | undefined;
  readonly signal: AbortSignal;
};

// Invariants
//   S1. Publishing never waits and never fails a run: what cannot be kept is dropped, counted and announced.
//   S2. A watcher is given every delta behind its offset, in order, once; only such as are over by then may be missing.
//   S3. What is over is removed, soon: nothing is kept of a loop that has ended.
//   S4. What a watcher has not taken yet is not kept for it.

export interface StreamHub {
  publish(delta: Delta): void;
  /** Resolves when everything published before can be read by others. */
  flush(): Promise<void>;
  /**
   * What is shown so far (`snapshotOf` of what is kept), for who comes late; `watch` from its offset gives the rest. It is
   * what a moment knows: of what is recorded meanwhile something may still be in it.
   *
   * @param options.to - As it was up to this offset. What is over since may be missing.
   */
  readSnapshot(session: string, options?: { readonly to?: number }): Promise<StreamSnapshot>;
  /** In order of offset; ends when the signal does, or the hub. Comes late as well as early. */
  watch(options: StreamWatchOptions): AsyncIterable<OffsetDelta>;
  /** What one call has published so far, by whichever process; in order. For the word on an unknown outcome. */
  readPublished(call: {
    session: string;
    run: string;
    command: number;
    call: number;
  }): Promise<readonly Delta[]>;
  /** Forgets a session's deltas. */
  deleteSession(session: string): Promise<void>;
  close(): Promise<void>;
}
