import type { Continuation } from "../schema/definition.ts";
import type { NewMessage } from "../transcript/session.ts";
import { type Asking, hookedPoints } from "./ask-hooks.ts";
import type { Dependencies } from "./dependencies.ts";
import { type FilteredPrompts, filterPrompts } from "./filter-prompts.ts";
import { mayBegin, type Refused } from "./loop-hooks.ts";

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
  const refused = hookedPoints(definition) === undefined ? undefined : await mayBegin(step, prompts, asking);
  if (refused !== undefined) return { prompts, ...refused };
  const waiting = continuation?.kind.type === "compaction" ? async () => [] : inbox;
  return await filterPrompts(definition.inputFilters, prompts, waiting, dependencies, signal);
}
