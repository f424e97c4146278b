import { z } from "zod";
import { describeKey, type Field, withExpected } from "../agent-file/define-field.ts";
import { BEHAVIOR_FIELDS } from "../agent-file/fields/behavior.ts";
import { COMPACTION_FIELDS } from "../agent-file/fields/compaction.ts";
import { EXECUTION_FIELDS } from "../agent-file/fields/execution.ts";
import { MODEL_FIELDS } from "../agent-file/fields/model.ts";
import { SAMPLING_FIELDS } from "../agent-file/fields/profile.ts";
import { formatExpected, type JsonSchema } from "../agent-file/json-schema.ts";

// The keys of [matrix]: besides `agent`, `model` and `system_prompt`, the fields of agent files that have a single value.

/** A value of the matrix. */
export type AxisValue = string | number | boolean;

const MODEL_KEYS = ["effort", "verbosity", "service_tier", "reasoning", "thinking_between_tools"];

const CANDIDATES: readonly Field[] = [
  ...SAMPLING_FIELDS.filter(({ paths }) => paths[0]![0] !== "config_id"),
  ...EXECUTION_FIELDS,
  ...BEHAVIOR_FIELDS.filter(({ paths }) => paths[0]![0] !== "session"),
  ...COMPACTION_FIELDS,
  ...MODEL_FIELDS.filter(({ paths }) => paths[0]!.length === 1 && MODEL_KEYS.includes(paths[0]![0]!)),
].filter(({ schema }) => hasSingleValue(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })));

function hasSingleValue(schema: unknown): boolean {
  const { type, anyOf, enum: values, const: value } = schema as JsonSchema;
  if (anyOf !== undefined) return anyOf.every(hasSingleValue);
  return (
    values !== undefined ||
    value !== undefined ||
    ["string", "number", "integer", "boolean", "null"].includes(type ?? "")
  );
}

/** The fields by key: the names of [agent.profile], [execution] and [provider], or the whole path of another section's field. */
export const AXIS_FIELDS: ReadonlyMap<string, Field> = new Map(
  CANDIDATES.map((field) => {
    const [path] = field.paths as [readonly string[]];
    const isShort = path.length === 1 || (path.length === 2 && path[0] === "execution");
    return [isShort ? path.at(-1)! : path.join("."), field];
  }),
);

/** What other programs and the definition call these keys. */
export const FOREIGN_AXES: Readonly<Record<string, string>> = {
  agents: "agent",
  models: "model",
  prompt: "system_prompt",
  prompts: "system_prompt",
  thinking: "thinking_level",
  maxTokens: "max_tokens",
  maxTurns: "max_turns",
};

function defineAxis(schema: z.ZodType, description: string): z.ZodType {
  const one = formatExpected(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema);
  const either = withExpected(z.union([schema, z.array(schema).min(1)]), `${one}, or a list of these`);
  return describeKey(either, description).meta({ description, expected: `${one}, or a list of these` });
}

const text = z.string().min(1);

/** The table [matrix]. */
export const Matrix = z.strictObject({
  agent: z
    .union([text, z.array(text).min(1)])
    .meta({ description: "Agent files, as `FILE` or `FILE#AGENT`, relative to the suite file." }),
  model: defineAxis(
    withExpected(text, "a model as provider/ID"),
    "Models, as `provider/ID`. One of the agent's own provider keeps the address, the key and the headers that the agent file states.",
  ),
  system_prompt: defineAxis(
    withExpected(text, 'a text, or "file:PATH"'),
    "System prompts: texts, or `file:PATH`, relative to the suite file.",
  ),
  ...Object.fromEntries(
    [...AXIS_FIELDS].map(([key, { schema }]) => [
      key,
      defineAxis((schema as z.ZodOptional<z.ZodType>).unwrap(), schema.meta()?.description ?? ""),
    ]),
  ),
});
