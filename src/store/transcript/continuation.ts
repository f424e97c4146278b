import type { Entry } from "../../schema/record.ts";

/** The first entries of a branch that a reader has read before. */
export type KnownEntries = {
  readonly count: number;
  /** The run that wrote the last of them. Another writer means another conversation: the session was deleted. */
  readonly writer: string | undefined;
};

export type Continuation = {
  /** The entries follow the known ones. If false, these are no longer valid, and `entries` begins at position 0. */
  readonly follows: boolean;
  readonly entries: readonly Entry[];
  /** The run that wrote the last entry, which may be a known one. */
  readonly writer: string | undefined;
};
