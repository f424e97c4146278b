/**
 * A piece of live output from an activity to watchers. It is not a record: the transcript contains everything that matters.
 */
export type Delta = {
  readonly session: string;
  /** The Temporal run of the activity. */
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
  /** A new attempt begins: the output of earlier attempts at the same call is void. */
  | { readonly type: "attempt" }
  /** Why there is no output: a short text that says what the request waits for. */
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
   * The transcript now contains the events of the loop up to `sequence`. The loop's earlier live output is no longer
   * retained: all of it, or its answers and the output of these calls.
   */
  | { readonly type: "recorded"; readonly sequence: number; readonly completed: "all" | readonly string[] }
  /** The publisher dropped this many deltas here, because they could not be written in time. */
  | { readonly type: "dropped"; readonly count: number };

/**
 * A delta and its offset in its session's stream: a whole number above 0 and at most 2^53 - 1.
 *
 * Offsets increase in the order in which every watcher receives the deltas: after one, a watcher never receives an equal or
 * lower one, whichever process published it. Gaps have no meaning. No offset is reused, even after all deltas are removed.
 * (It is a position in a file, or an id that a table assigns under a lock on the session, so that ids become visible in
 * order.)
 */
export type OffsetDelta = { readonly offset: number; readonly delta: Delta };

/** The unrecorded live output of a session, with joined pieces, and the offset from which to continue. */
export type StreamSnapshot = { readonly deltas: readonly OffsetDelta[]; readonly offset: number };

export type StreamWatchOptions = {
  readonly session: string;
  /** Continue after this offset; by default from the oldest retained delta. */
  readonly from?: number | undefined;
  readonly signal: AbortSignal;
};

/** One execution's place: the Temporal run, the machine's command, and which of its calls (0 for a model call). */
export type CallReference = Pick<Delta, "session" | "run" | "command" | "call">;

export type PublishOptions = {
  /** Whether the output is needed after its execution ended, or its process died. Other output is void then. */
  readonly isLasting?: boolean;
};

// Invariants
//   S1. Publishing never waits and never fails a run: deltas that cannot be stored are dropped, counted and announced.
//   S2. A watcher receives every delta after its offset, in order, once; only completed deltas may be missing.
//   S3. Completed deltas are removed soon: nothing is retained of a loop that has ended.
//   S4. Deltas are not buffered for slow watchers.

export interface StreamHub {
  publish(delta: Delta, options?: PublishOptions): void;
  /** Records that an execution has ended: its output may be forgotten unless it is lasting, because a message follows. */
  end(call: CallReference): void;
  /** Resolves when all earlier deltas are readable by other processes. */
  flush(): Promise<void>;
  /**
   * Reads the output so far (`buildSnapshot` of the retained deltas) for late watchers; `watch` from its offset returns the
   * rest. It may contain output that is recorded during the read.
   *
   * @param options.to - Reads the state up to this offset. Output that was completed since may be missing.
   */
  readSnapshot(session: string, options?: { readonly to?: number }): Promise<StreamSnapshot>;
  /** Watches deltas in order of offset, until the signal aborts or the hub closes. It can start at any time. */
  watch(options: StreamWatchOptions): AsyncIterable<OffsetDelta>;
  /** Reads all output of one call so far, from all processes, in order. It describes calls with an unknown outcome. */
  readPublished(call: CallReference): Promise<readonly Delta[]>;
  /** Deletes a session's deltas. */
  deleteSession(session: string): Promise<void>;
  close(): Promise<void>;
}
