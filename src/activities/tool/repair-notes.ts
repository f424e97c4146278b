import { asObject } from "../../platform/text/json.ts";
import type { RepairedArguments } from "../../tools/argument-repair/repair-call.ts";
import type { Execution } from "./execution.ts";

/** The most fields that a result names, because this is a hint and not a list. */
const MAX_NAMED = 5;

/**
 * Adds the notes about repairs of the call: all of them for users, and for the model the names of its fields that were
 * ignored.
 */
export function addNotes(
  execution: Execution,
  { notes, dropped }: Pick<RepairedArguments, "notes" | "dropped">,
): Execution {
  if (notes.length === 0) return execution;
  const { content, details } = execution.output;
  const line = formatUnusedFields(dropped);
  return {
    ...execution,
    output: {
      ...execution.output,
      content: line === undefined ? content : appendLine(content, line),
      details: { ...(details === undefined ? {} : (asObject(details) ?? { details })), recovered: notes },
    },
  };
}

function formatUnusedFields(dropped: readonly string[]): string | undefined {
  if (dropped.length === 0) return undefined;
  const names = dropped.slice(0, MAX_NAMED).join(", ");
  return `[Ignored: ${names}${dropped.length > MAX_NAMED ? ", ..." : ""}. The tool has no such field.]`;
}

/** Adds lines that the model reads after the output. */
export function addLines(execution: Execution, lines: readonly string[]): Execution {
  if (lines.length === 0) return execution;
  const content = appendLine(execution.output.content, lines.join("\n"));
  return { ...execution, output: { ...execution.output, content } };
}

function appendLine(content: Execution["output"]["content"], line: string): Execution["output"]["content"] {
  const last = content.at(-1);
  return last?.type === "text"
    ? [...content.slice(0, -1), { ...last, text: `${last.text.replace(/\n$/, "")}\n${line}` }]
    : [...content, { type: "text", text: line }];
}
