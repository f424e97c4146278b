/** What the library says of an event that it could not read, or of a stream that it has given up. */
export const SSE_ERROR_PATTERN =
  /invalid_union|invalid_type|unrecognized_keys|is not valid JSON|in JSON at|Maximum reconnection attempts/;
