import { StoreError } from "../store-error.ts";

// Errors that show that the transcript and Temporal's store are from different times: one was restored without the other.

/** Creates the error for a run that expects data which the transcript does not contain. */
export function createBehindError(description: string): StoreError {
  return new StoreError(
    "behind",
    `The transcript is behind: ${description}. It is older than Temporal's state of this run, as after a restore of the transcript alone. Nothing was written. Restore the transcript that belongs to this server's store, or send the session a new prompt: it then continues from the transcript.`,
  );
}

/** Creates the error for a run that writes to a position where it has already written something else. */
export function createAheadError(description: string): StoreError {
  return new StoreError(
    "ahead",
    `The transcript is ahead: ${description}. It is newer than Temporal's state of this run, as after a restore of Temporal's store alone. Nothing was written. Restore the server's store that belongs to this transcript, or send the session a new prompt: it then continues from the transcript.`,
  );
}
