import type { State } from "./state/state.ts";

// What servers outside offer may change while a loop runs. It keeps the tools that it was opened with, and the model is
// told with the turn that begins next.

/** As a worker tells it. Names as the model knows them or will; of more than a few the last one says how many more. */
export type ToolListChange = {
  readonly loopId: string;
  readonly server: string;
  /** Of what differs from what the loop was opened with: the same for the same, whichever worker tells it. */
  readonly hash: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
};

/** Names of each kind. */
const MAX_NAMES = 33;

const isName = (word: unknown) => typeof word === "string" && word.length <= 64;

/** Whether it is what a worker sends, and no longer. */
export function isToolListChange(value: unknown): value is ToolListChange {
  const { loopId, server, hash, added, removed, changed } = (value ?? {}) as Partial<ToolListChange>;
  const lists = [[loopId, server, hash], added, removed, changed];
  return lists.every((list) => Array.isArray(list) && list.length <= MAX_NAMES && list.every(isName));
}

/** Known already, or meant for a loop that is over: nothing. A notice that nobody has read gives way to a newer one. */
export function applyToolListChange(state: State, change: ToolListChange): State {
  const { loop } = state;
  const { loopId, server, hash } = change;
  if (loop?.loopId !== loopId || loop.offers?.[server] === hash) return state;
  const begin = `The MCP server ${server} `;
  const notices = (loop.notices ?? []).filter((notice) => !notice.startsWith(begin));
  const toolLists = { ...loop.offers, [server]: hash };
  return {
    ...state,
    loop: { ...loop, offers: toolLists, notices: [...notices, begin + formatToolListChange(change)] },
  };
}

function formatToolListChange({ added, removed, changed }: ToolListChange): string {
  const part = (label: string, names: readonly string[]) =>
    names.length > 0 ? ` ${label}: ${names.join(", ")}.` : "";
  const what = part("New", added) + part("No longer offered", removed) + part("Described anew", changed);
  if (what === "") return "offers again what it did when you began.";
  return `offers other tools than when you began.${what} You keep the tools that you have until you are done, and have the new ones when you are asked next; calls of tools that are no longer offered may fail.`;
}
