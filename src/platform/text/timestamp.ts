/** Formats Unix milliseconds as an ISO 8601 timestamp. */
export function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}
