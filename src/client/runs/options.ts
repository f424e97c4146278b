import { z } from "zod";
import { isObject } from "../../platform/text/json.ts";
import { check, getKind } from "../../schema/check.ts";
import { MessageMetadata } from "../../schema/message.ts";
import { HoldfastError } from "../holdfast-error.ts";

// Validation of the options of the client's functions, for callers in JavaScript, who have no types.

const optionalText = z.string().optional();

const RunFields = z.looseObject({
  session: optionalText,
  branch: optionalText,
  rotateAfterMs: z.number().positive().optional(),
  mode: z.enum(["run", "interactive"]).optional(),
  messageId: z.string().min(1).optional(),
  metadata: MessageMetadata.optional(),
  title: optionalText,
});
export const RunOptions = RunFields.extend({
  agent: z.unknown().refine((agent) => agent !== undefined, "is missing"),
});
export const PromptingOptions = RunFields;
export const EvaluationOptions = z.looseObject({
  agents: z.array(z.unknown()),
  strategy: z.looseObject({ type: z.string() }),
  session: optionalText,
});
export const JobOptions = z.looseObject({
  mode: z.looseObject({}),
  task: z.unknown().optional(),
  job: optionalText,
  title: optionalText,
});

/** @param call - The function as a caller writes it. @throws HoldfastError That lists every problem. */
export function checkOptions(schema: z.ZodType, options: unknown, call: string): void {
  if (!isObject(options)) {
    throw new HoldfastError(
      "input-invalid",
      `${call} takes an object of options, but got ${getKind(options)}.`,
    );
  }
  const checked = check(schema, options, "options");
  if (checked.ok) return;
  const { problems } = checked;
  throw new HoldfastError("input-invalid", `The options of ${call} are not valid: ${problems.join("; ")}.`, {
    problems,
  });
}
