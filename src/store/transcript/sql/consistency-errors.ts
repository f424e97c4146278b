import { StoreError } from "../store-error.ts";

// What shows that the transcript and Temporal's store are not of one time: one of them was restored without the other.

/** A run counts on what is not there. */
export function createBehindError(description: string): StoreError {
  return new StoreError(
    "behind",
    `The transcript is behind: ${description}. It is older than what Temporal knows of this run, as after a restore of the transcript alone. Nothing was written. Restore the transcript that belongs to this server's store, or prompt the session anew: it then goes on from what the transcript has.`,
  );
}

/** A run is to write where it has already written something else. */
export function createAheadError(description: string): StoreError {
  return new StoreError(
    "ahead",
    `The transcript is ahead: ${description}. It is newer than what Temporal knows of this run, as after a restore of Temporal's store alone. Nothing was written. Restore the server's store that belongs to this transcript, or prompt the session anew: it then goes on from what the transcript has.`,
  );
}
