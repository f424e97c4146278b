import { type ExtractedJson, extractJson } from "../platform/text/extract-json.ts";
import type { JsonSchema } from "../platform/text/schema-type.ts";
import type { AssistantMessage } from "../schema/message.ts";
import { joinText } from "../schema/message-text.ts";
import type { StructuredOutput } from "../schema/output.ts";
import type { MatchesSchema } from "./output-recovery/fit-value.ts";
import { isOnlyPart } from "./output-recovery/other-parts.ts";
import { type Recovery, recoverOutput, recoverValue } from "./output-recovery/recover-output.ts";

type Answer = Pick<AssistantMessage, "content">;

export type ReadOutput =
  | {
      readonly type: "found";
      readonly value: unknown;
      /** What was repaired to read it; empty for what the model wrote itself. */
      readonly repairs: readonly string[];
    }
  | Exclude<ExtractedJson, { type: "found" }>;

/** A schema that any object matches. */
const ANY_OBJECT: JsonSchema = { type: "object" };

export function getOutputSchema(output: StructuredOutput): JsonSchema {
  return output.type === "json" ? ANY_OBJECT : output.schema;
}

/**
 * Reads the structured output of an answer: the arguments of its only call, or the JSON value in its text. What does not
 * match is repaired if the output's definition allows it, and is otherwise returned as it is.
 */
export function readOutput(answer: Answer, output: StructuredOutput, matches: MatchesSchema): ReadOutput {
  const schema = getOutputSchema(output);
  const fits = (value: unknown) => matches(value, schema, schema);
  const found = refuseParts(answer, extractOutput(answer, fits), schema);
  if (found.type === "found" && fits(found.value)) return { ...found, repairs: [] };
  const recovery = output.recovery === "repair" ? recover(answer, schema, matches) : undefined;
  if (recovery !== undefined) return { type: "found", ...recovery };
  return found.type === "found" ? { ...found, repairs: [] } : found;
}

/** An object that matches alone is not the answer where more of the answer stands beside it. */
function refuseParts(answer: Answer, found: ExtractedJson, schema: JsonSchema): ExtractedJson {
  const isPart =
    found.type === "found" &&
    !answer.content.some((part) => part.type === "toolCall") &&
    isOnlyPart(joinText(answer.content), found.value, schema);
  return isPart
    ? {
        type: "invalid",
        reason: "The text holds more of the answer beside the object that matches: one object is expected.",
      }
    : found;
}

/** @param fits - Chooses among several values of a text. */
function extractOutput({ content }: Answer, fits: (value: unknown) => boolean): ExtractedJson {
  const call = content.find((part) => part.type === "toolCall");
  if (call !== undefined) return { type: "found", value: call.arguments };
  return extractJson(joinText(content), fits);
}

function recover({ content }: Answer, schema: JsonSchema, matches: MatchesSchema): Recovery | undefined {
  const call = content.find((part) => part.type === "toolCall");
  const written = call === undefined ? joinText(content) : call.arguments;
  return typeof written === "string"
    ? recoverOutput(written, schema, matches)
    : recoverValue(written, schema, matches);
}
