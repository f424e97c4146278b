/** A command that was dispatched: enough to dispatch it again. */
export type Dispatch = {
  /** The number of the command within the session's run; a redispatch has the same number. */
  readonly number: number;
  /** Rises with each redispatch: a worker on an older generation may not write. */
  readonly generation: number;
  /** The number of workers in a row that died during it. */
  readonly lostWorkers: number;
  /** How much of the outbox it carries. */
  readonly carries: { readonly entries: number; readonly events: number };
};
