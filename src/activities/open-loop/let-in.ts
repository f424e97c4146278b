import type { Continuation } from "../../schema/definition.ts";
import type { NewMessage } from "../../store/transcript/session.ts";
import type { Dependencies } from "../dependencies.ts";
import { FILTERS_MS, withinFilterTime } from "../filter-input/filter-time.ts";
import { type Asking, hookedPoints } from "../hooks/ask-hooks.ts";
import { mayBegin, type Refused } from "../hooks/loop-hooks.ts";
import { type FilteredPrompts, filterPrompts } from "./filter-prompts.ts";

/** Hooks and filters together: the step that asks them ends after five minutes, and has to write besides. */
const PATIENCE_MS = 280_000;

/**
 * What a loop may begin with: hooks are asked whether it may begin at all, then the filters about its words (LOOP-02).
 *
 * @param inbox - Read only when a filter is asked; a loop of kind `compaction` takes nothing of it.
 */
export async function letIn(
  step: Parameters<typeof mayBegin>[0],
  prompts: readonly NewMessage[],
  inbox: () => Promise<readonly NewMessage[]>,
  continuation: Continuation | undefined,
  asking: Asking & { readonly dependencies: Pick<Dependencies, "filters"> },
): Promise<FilteredPrompts | ({ readonly prompts: readonly NewMessage[] } & Refused)> {
  const { definition, dependencies, signal } = asking;
  const names = definition.inputFilters;
  const began = Date.now();
  const refused =
    hookedPoints(definition) === undefined ? undefined : await mayBegin(step, prompts, inbox, asking);
  if (refused !== undefined) return { prompts, ...refused };
  // Read before the filters' time begins: a store that is away must not use it up.
  const isRead = names.length > 0 && continuation?.kind.type !== "compaction";
  const waiting = isRead ? await inbox() : [];
  const limitMs = Math.min(FILTERS_MS, began + PATIENCE_MS - Date.now());
  return await withinFilterTime({ names, limitMs }, signal, (within) =>
    filterPrompts(names, prompts, async () => waiting, dependencies, within),
  );
}
