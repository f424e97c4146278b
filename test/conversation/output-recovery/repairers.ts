import { extractJsonMiddleware, parsePartialJson, type RepairTextFunction } from "ai";
import { jsonrepair } from "jsonrepair";
import { ARTIFACT_TYPES } from "../../../src/apps/git/artifacts/artifact-types.ts";
import { readOutput } from "../../../src/conversation/output-value.ts";
import { matchesSchema } from "../../../src/platform/json-schema/schema-validator.ts";
import type { SpoiltOutput } from "./corpus.ts";

/** Returns a valid value of an output, with the defaults of its schema, or `undefined`. */
export type Repairer = (spoilt: SpoiltOutput) => Promise<unknown>;

const parseStrictly = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const validate = ({ type }: SpoiltOutput, value: unknown): unknown => {
  const parsed = ARTIFACT_TYPES[type].safeParse(value);
  return parsed.success ? parsed.data : undefined;
};

/** Reads an answer as a definition with this `recovery` does. */
const readWithHoldfast =
  (recovery: "repair" | "strict"): Repairer =>
  async (spoilt) => {
    const { text, schema } = spoilt;
    const output = { type: "json-schema", schema, recovery } as const;
    const found = readOutput({ content: [{ type: "text", text }] }, output, matchesSchema);
    return found.type === "found" ? validate(spoilt, found.value) : undefined;
  };

const repairWithJsonrepair: Repairer = async (spoilt) => {
  const valid = validate(spoilt, parseStrictly(spoilt.text));
  if (valid !== undefined) return valid;
  try {
    return validate(spoilt, JSON.parse(jsonrepair(spoilt.text)));
  } catch {
    return undefined;
  }
};

/**
 * What the AI SDK offers for a text that should be an object: `extractJsonMiddleware` takes fences away, `generateObject`
 * parses and validates, and its `experimental_repairText` gets what fails. The SDK has no repair of its own for that hook;
 * the only one that it exports is `parsePartialJson` (`fixJson`), which closes what a stream has left open.
 */
const repairWithAiSdk: Repairer = async (spoilt) => {
  const text = await stripFences(spoilt.text);
  const valid = validate(spoilt, parseStrictly(text));
  if (valid !== undefined) return valid;
  const repaired = await closePartialJson({ text, error: undefined as never });
  return repaired === null ? undefined : validate(spoilt, parseStrictly(repaired));
};

const closePartialJson: RepairTextFunction = async ({ text }) => {
  const { value } = await parsePartialJson(text);
  return value === undefined ? null : JSON.stringify(value);
};

async function stripFences(text: string): Promise<string> {
  const middleware = extractJsonMiddleware();
  const generated = { content: [{ type: "text", text }] };
  const result = await middleware.wrapGenerate?.({ doGenerate: async () => generated } as never);
  const [part] = result?.content ?? [];
  return part?.type === "text" ? part.text : text;
}

export const REPAIRERS = {
  holdfast: readWithHoldfast("repair"),
  strict: readWithHoldfast("strict"),
  jsonrepair: repairWithJsonrepair,
  aiSdk: repairWithAiSdk,
} as const satisfies Record<string, Repairer>;
