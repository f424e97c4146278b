import type { NewMessage } from "../../store/transcript/session.ts";
import type { Dependencies } from "../dependencies.ts";
import { askFilters } from "../filter-input/ask-filters.ts";
import { readFilterText } from "../step/message-parts.ts";

/** The messages that a loop may begin with, as they are stored. A warning is at the end of its message. */
export type FilteredPrompts = {
  readonly prompts: readonly NewMessage[];
  /** Absent where no filter ran. */
  readonly inbox?: readonly NewMessage[];
  /** Why nothing may be stored. */
  readonly rejected?: string;
  /** The rejected message, when it is not a prompt: its sender does not wait for an answer. */
  readonly rejectedMessages?: readonly NewMessage[];
};

/**
 * Runs the filters on all user messages: first on the prompts, joined (FILT-02), then on each message that waited in
 * the inbox or in a queue (PHI-08). The first rejection ends the filtering.
 *
 * @param inbox - Read only when there is a filter.
 */
export async function filterPrompts(
  names: readonly string[],
  prompts: readonly NewMessage[],
  inbox: () => Promise<readonly NewMessage[]>,
  dependencies: Pick<Dependencies, "filters" | "log"> & Parameters<typeof readFilterText>[1],
  signal: AbortSignal,
): Promise<FilteredPrompts> {
  if (names.length === 0) return { prompts };
  const asked = prompts.filter(({ origin }) => origin === "prompt");
  const last = asked.at(-1);
  const warnings = new Map<NewMessage, string>();
  if (last !== undefined) {
    const texts = await Promise.all(asked.map((prompt) => readFilterText(prompt, dependencies)));
    const text = texts.join("\n");
    const verdict = await askFilters(names, text, dependencies, signal);
    if (verdict.type === "reject") return { prompts, rejected: verdict.reason };
    if (verdict.type === "warn") warnings.set(last, verdict.text);
  }
  const waiting = await inbox();
  for (const message of [...waiting, ...prompts.filter((prompt) => !asked.includes(prompt))]) {
    const verdict = await askFilters(
      names,
      await readFilterText(message, dependencies),
      dependencies,
      signal,
    );
    if (verdict.type === "reject") return { prompts, rejected: verdict.reason, rejectedMessages: [message] };
    if (verdict.type === "warn") warnings.set(message, verdict.text);
  }
  const warned = (message: NewMessage): NewMessage => {
    const warning = warnings.get(message);
    return warning === undefined ? message : { ...message, warning };
  };
  return { prompts: prompts.map(warned), inbox: waiting.map(warned) };
}
