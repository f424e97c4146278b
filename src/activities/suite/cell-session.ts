/** Characters of a cell's hash in the id of its session: 128 bits. */
const HASH_CHARS = 32;

/** Builds the id of the session, and of the workflow, in which a cell is asked. A later attempt has a session of its own. */
export function buildSessionId(cell: string, attempt: number): string {
  const id = `cell-${cell.slice(0, HASH_CHARS)}`;
  return attempt === 1 ? id : `${id}-${attempt}`;
}
