/** Formats a time as lists do: `2026-01-02 09:30`, in UTC. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}
