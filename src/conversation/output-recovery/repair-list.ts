/** What was changed to read an output; each line once, with how often. */
export type RepairList = { readonly add: (repair: string) => void; readonly list: () => readonly string[] };

/** A result shows these; more are counted. */
const MAX_REPAIRS = 10;

/** The longest path of a field in a repair: models make names of any length. */
const MAX_PATH_CHARS = 60;

export function createRepairList(): RepairList {
  const counts = new Map<string, number>();
  return {
    add: (repair) => counts.set(repair, (counts.get(repair) ?? 0) + 1),
    list: () => {
      const all = [...counts].map(([repair, count]) => (count === 1 ? repair : `${repair} (${count} times)`));
      if (all.length <= MAX_REPAIRS) return all;
      return [...all.slice(0, MAX_REPAIRS - 1), `and ${all.length - MAX_REPAIRS + 1} more`];
    },
  };
}

export function formatPath(path: readonly (string | number)[]): string {
  const text = path.join(".");
  if (text === "") return "the answer";
  return text.length > MAX_PATH_CHARS ? `${text.slice(0, MAX_PATH_CHARS)}...` : text;
}
