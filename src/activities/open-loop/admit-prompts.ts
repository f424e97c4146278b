import type { Continuation } from "../../schema/continuation.ts";
import type { NewMessage } from "../../store/transcript/session.ts";
import type { Dependencies } from "../dependencies.ts";
import { FILTERS_MS, runWithFilterTimeout } from "../filter-input/filter-time.ts";
import { findHookPoints, type HookCall } from "../hooks/ask-hooks.ts";
import { askBeforeLoopHooks, type LoopRejection } from "../hooks/loop-hooks.ts";
import { type FilteredPrompts, filterPrompts } from "./filter-prompts.ts";

/**
 * The limit for hooks and filters together: the step that runs them ends after five minutes, and needs time to write.
 */
const ADMISSION_TIMEOUT_MS = 280_000;

/**
 * Returns the messages that a loop may begin with. Hooks decide whether it may begin at all, then filters check its
 * messages (LOOP-02).
 *
 * @param inbox - Read only when a filter runs. A loop of kind `compaction` takes nothing from it.
 */
export async function admitPrompts(
  step: Parameters<typeof askBeforeLoopHooks>[0],
  prompts: readonly NewMessage[],
  inbox: () => Promise<readonly NewMessage[]>,
  continuation: Continuation | undefined,
  asking: HookCall & { readonly dependencies: Pick<Dependencies, "filters"> },
): Promise<FilteredPrompts | ({ readonly prompts: readonly NewMessage[] } & LoopRejection)> {
  const { definition, dependencies, signal } = asking;
  const names = definition.inputFilters;
  const began = Date.now();
  const refused =
    findHookPoints(definition) === undefined
      ? undefined
      : await askBeforeLoopHooks(step, prompts, inbox, asking);
  if (refused !== undefined) return { prompts, ...refused };
  // Read before the filters' time starts, so that an unavailable store does not use it up.
  const isRead = names.length > 0 && continuation?.kind.type !== "compaction";
  const waiting = isRead ? await inbox() : [];
  const limitMs = Math.min(FILTERS_MS, began + ADMISSION_TIMEOUT_MS - Date.now());
  return await runWithFilterTimeout({ names, limitMs }, signal, (within) =>
    filterPrompts(names, prompts, async () => waiting, dependencies, within),
  );
}
