/** Matches the library's errors about an unreadable event or an abandoned stream. */
export const SSE_ERROR_PATTERN =
  /invalid_union|invalid_type|unrecognized_keys|is not valid JSON|in JSON at|Maximum reconnection attempts/;
