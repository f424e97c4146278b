// The bounds of the messages that wait in a run. Errors name them too, so this file imports nothing.

/** The maximum number of messages that wait in a run, steering and follow-ups together; also in a session's inbox. */
export const MAX_WAITING_MESSAGES = 200;

/** The maximum number of UTF-8 bytes of the waiting texts. A stored text counts as its hash. */
export const MAX_WAITING_BYTES = 256 * 1024;

/** The maximum number of UTF-8 bytes of a message's metadata as JSON. */
export const MAX_METADATA_BYTES = 2048;

/** The longest message id in characters: 200 ids are remembered. */
export const MAX_MESSAGE_ID_CHARS = 256;
