import { objectOf } from "../../models/json.ts";
import type { RecoveredArguments } from "../../tools/argument-repair/recover-call.ts";
import type { Execution } from "./execution.ts";

/** Of the fields named in a result: it is a hint, not a list. */
const MAX_NAMED = 5;

/** Adds what was made of the call: all of it for people, and to the model which of its fields were not used. */
export function withNotes(
  execution: Execution,
  { notes, dropped }: Pick<RecoveredArguments, "notes" | "dropped">,
): Execution {
  if (notes.length === 0) return execution;
  const { content, details } = execution.output;
  const line = unusedFields(dropped);
  return {
    ...execution,
    output: {
      content: line === undefined ? content : withLine(content, line),
      details: { ...(details === undefined ? {} : (objectOf(details) ?? { details })), recovered: notes },
    },
  };
}

function unusedFields(dropped: readonly string[]): string | undefined {
  if (dropped.length === 0) return undefined;
  const names = dropped.slice(0, MAX_NAMED).join(", ");
  return `[Not used: ${names}${dropped.length > MAX_NAMED ? ", ..." : ""}. The tool has no such field.]`;
}

function withLine(content: Execution["output"]["content"], line: string): Execution["output"]["content"] {
  const last = content.at(-1);
  return last?.type === "text"
    ? [...content.slice(0, -1), { ...last, text: `${last.text.replace(/\n$/, "")}\n${line}` }]
    : [...content, { type: "text", text: line }];
}
