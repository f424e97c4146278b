/** Of a generated id, at least its first group is displayed. */
const MIN_CHARS = 8;
const GENERATED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Shortens generated ids to beginnings that are unique among the given ids, and that commands take. The rest after a dot stays,
 * and so do ids that a user has chosen.
 */
export function shortenIds(ids: readonly string[]): (id: string) => string {
  const roots = [...new Set(ids.map(getRoot))];
  return (id) => {
    const root = getRoot(id);
    if (!GENERATED_ID.test(root)) return id;
    const others = roots.filter((other) => other !== root);
    let length = MIN_CHARS;
    while (length < root.length && others.some((other) => other.startsWith(root.slice(0, length))))
      length += 1;
    return root.slice(0, length) + id.slice(root.length);
  };
}

function getRoot(id: string): string {
  return id.split(".", 1)[0] ?? id;
}
