import type { ToolListChange } from "./state/run-event.ts";
import type { State } from "./state/state.ts";

// The tools that a server offers may change while a loop runs. The loop keeps the tools that it was opened with, and the
// model is informed with the turn that begins next.

/** The maximum number of names of each kind. */
const MAX_NAMES = 33;

const isName = (word: unknown) => typeof word === "string" && word.length <= 64;

/** Reports whether a value is a change as a worker sends it, within its limits. */
export function isToolListChange(value: unknown): value is ToolListChange {
  const { loopId, server, hash, added, removed, changed } = (value ?? {}) as Partial<ToolListChange>;
  const lists = [[loopId, server, hash], added, removed, changed];
  return lists.every((list) => Array.isArray(list) && list.length <= MAX_NAMES && list.every(isName));
}

/** Applies a change, unless it is known or its loop has ended. It replaces an older notice that the model has not read. */
export function applyToolListChange(state: State, change: ToolListChange): State {
  const { loop } = state;
  const { loopId, server, hash } = change;
  if (loop?.loopId !== loopId || loop.toolLists?.[server] === hash) return state;
  const begin = `The MCP server ${server} `;
  const notices = (loop.notices ?? []).filter((notice) => !notice.startsWith(begin));
  const toolLists = { ...loop.toolLists, [server]: hash };
  return {
    ...state,
    loop: { ...loop, toolLists, notices: [...notices, begin + formatToolListChange(change)] },
  };
}

function formatToolListChange({ added, removed, changed }: ToolListChange): string {
  const part = (label: string, names: readonly string[]) =>
    names.length > 0 ? ` ${label}: ${names.join(", ")}.` : "";
  const what = part("New", added) + part("No longer offered", removed) + part("Changed", changed);
  if (what === "") return "offers the same tools again as when you started.";
  return `offers different tools than when you started.${what} You keep your current tools until you finish this task, and get the new ones with the next prompt. Calls to tools that are no longer offered may fail.`;
}
