import type { ZodType, z } from "zod";
import { extractJson as jsonIn } from "../../platform/text/extract-json.ts";
import type { AgentMessage } from "../../schema/message.ts";
import { getMessageText } from "../../schema/message-text.ts";
import { formatProblems } from "./zod-output.ts";

/** `reason` is a sentence that describes what was found; of a `mismatch`, field by field. */
export type ExtractedJson<Value> =
  | {
      readonly type: "found";
      /** The value, parsed and checked. */
      readonly value: Value;
    }
  | {
      readonly type: "missing" | "cut-off" | "invalid" | "mismatch";
      /** What was found instead, as a sentence. */
      readonly reason: string;
    };

/**
 * Extracts the JSON value in a message or text: the whole text, a fenced block, or a value amid prose. Returns the first
 * one that matches the schema (PHI-09).
 */
export function extractJson<Schema extends ZodType>(
  source: AgentMessage | string,
  schema: Schema,
): ExtractedJson<z.output<Schema>> {
  const found = jsonIn(getText(source), (value) => schema.safeParse(value).success);
  if (found.type !== "found") return found;
  const parsed = schema.safeParse(found.value);
  return parsed.success
    ? { type: "found", value: parsed.data }
    : { type: "mismatch", reason: formatProblems(parsed.error) };
}

function getText(source: AgentMessage | string): string {
  if (typeof source === "string") return source;
  return getMessageText(source);
}
