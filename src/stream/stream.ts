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
  /** Events up to `sequence` of the loop can now be read in the transcript. */
  | { readonly type: "recorded"; readonly sequence: number }
  /** The publisher had to leave out this many deltas here, because nobody took them in time. */
  | { readonly type: "dropped"; readonly count: number };

export type OffsetDelta = { readonly offset: number; readonly delta: Delta };

export type WatchOptions = {
  readonly session: string;
  /** Go on behind this offset; absent: from the beginning of what is kept; `"now"`: only what comes. */
  readonly from?: number | "now" | undefined;
  readonly signal: AbortSignal;
};

/** The hub. Publishing never blocks and never fails a run: what cannot be kept is dropped, counted and announced. */
export interface StreamHub {
  publish(delta: Delta): void;
  /** Resolves when everything published before has reached the file. */
  flush(): Promise<void>;
  /** In order of offset; ends when the signal does. Comes late as well as early. */
  watch(options: WatchOptions): AsyncIterable<OffsetDelta>;
  /** What one call has published so far, by whichever process; in order. For the word on an unknown outcome. */
  published(call: { session: string; run: string; command: number; call: number }): Promise<readonly Delta[]>;
  /** Forgets a session's deltas. */
  forget(session: string): Promise<void>;
  close(): Promise<void>;
}
