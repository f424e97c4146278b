// The search in earlier messages, without terminal I/O: the newest message that contains all words of the query comes first.

export type HistorySearch = {
  readonly query: string;
  /** Messages that match, the newest first. */
  readonly found: readonly string[];
  readonly selected: number;
};

export type SearchKey =
  | { readonly type: "older" | "newer" | "erase" }
  | { readonly type: "text"; readonly text: string };

const MAX_FOUND = 50;

/** @param history - The oldest first. */
export function startSearch(history: readonly string[]): HistorySearch {
  return search(history, "");
}

export function stepSearch(state: HistorySearch, key: SearchKey, history: readonly string[]): HistorySearch {
  switch (key.type) {
    case "older":
      return { ...state, selected: Math.min(state.selected + 1, Math.max(0, state.found.length - 1)) };
    case "newer":
      return { ...state, selected: Math.max(state.selected - 1, 0) };
    case "erase":
      return search(history, state.query.slice(0, -1));
    case "text":
      return search(history, state.query + key.text);
  }
}

function search(history: readonly string[], query: string): HistorySearch {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const newest = [...new Set(history.toReversed())];
  const found = newest.filter((text) => words.every((word) => text.toLowerCase().includes(word)));
  return { query, found: found.slice(0, MAX_FOUND), selected: 0 };
}
