import { getOutputSchema, readOutput } from "../../conversation/output-value.ts";
import type { OutputVerdict } from "../../core/machine/state/digest.ts";
import type { OutputMode } from "../../models/provider.ts";
import type { ProviderRegistry } from "../../models/provider-registry.ts";
import { loadValidator, matchesSchema } from "../../platform/json-schema/schema-validator.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { outputName, type StructuredOutput } from "../../schema/output.ts";
import { describeSchemaErrors } from "../../tools/argument-repair/describe-schema-errors.ts";
import { findSchemaProblem } from "../../tools/argument-repair/find-schema-problem.ts";
import { resolveToolName } from "../../tools/argument-repair/resolve-tool-name.ts";
import type { Tool } from "../../tools/tool.ts";
import { DefinitionError, OutputError } from "../step/failure.ts";
import { runWithTimeout } from "../step/run-with-timeout.ts";

/** With the "..." of a cut, 512. */
const PROBLEMS_BYTES = 509;

/** With the "..." of a cut, 128. */
const REPAIR_BYTES = 125;

/** The limit for finding a value in an answer and validating it, because a pattern in a schema may take for ever. */
const VALIDATION_TIMEOUT_MS = 2_000;

/** How the output of one definition is requested from one vendor. */
export type OutputPlan = { readonly output: StructuredOutput; readonly mode: OutputMode };

type OutputDefinition = Pick<AgentDefinition, "output" | "model">;

/** Returns the plan, or `undefined` where the output is a text. */
export function buildOutputPlan(
  { output, model }: OutputDefinition,
  providers: Pick<ProviderRegistry, "get">,
): OutputPlan | undefined {
  if (output === undefined || output.type === "text") return undefined;
  const mode = providers.get(model.api)?.selectOutputMode?.(model, output);
  if (mode !== undefined) return { output, mode };
  throw new OutputError(
    `The API ${model.api} does not support an output of type ${output.type}: ` +
      "remove `output` from the definition, or choose another model",
  );
}

/** Finds problems of the output before a model is paid. */
export function checkOutput(
  definition: OutputDefinition,
  providers: Pick<ProviderRegistry, "get">,
  tools: readonly Tool[],
): void {
  const plan = buildOutputPlan(definition, providers);
  if (plan === undefined) return;
  const { output, mode } = plan;
  if (output.type === "json-schema") {
    const problem = findSchemaProblem(output.schema);
    if (problem !== undefined)
      throw new DefinitionError(`output.schema is not a usable JSON Schema: ${problem}`);
  }
  if (mode === "native") return;
  const taken = resolveToolName(outputName(output), tools);
  if (taken === undefined) return;
  throw new DefinitionError(
    `The tool ${taken.name} already answers to the name ${outputName(output)} of the output: set another name with output.name`,
  );
}

export function isFinalCall(plan: OutputPlan | undefined, toolName: string): boolean {
  return plan?.mode === "final-tool" && toolName === outputName(plan.output);
}

/**
 * Judges an answer that claims to be the last. Returns `undefined` for an answer that continues with calls or has
 * failed.
 */
export function judgeOutput(
  message: AssistantMessage,
  { output, mode }: OutputPlan,
): OutputVerdict | undefined {
  const { stopReason, content } = message;
  if (stopReason === "error" || stopReason === "aborted") return undefined;
  const calls = content.flatMap((part) => (part.type === "toolCall" ? [part.name] : []));
  const final = calls.filter((name) => mode === "final-tool" && name === outputName(output)).length;
  if (calls.length > final) return undefined;
  if (stopReason === "guardRail") return buildMismatch("the vendor filtered the answer");
  const isRepaired = output.recovery === "repair";
  if (mode === "final-tool") {
    if (final === 0 && !isRepaired)
      return buildMismatch(`found a text, expected a call of ${outputName(output)}`);
    if (stopReason === "length" && !isRepaired)
      return buildMismatch("the answer was cut off by the output limit");
    if (final > 1) return buildMismatch(`found ${final} calls of ${outputName(output)}, expected one`);
  }
  loadValidator();
  const verdict = runWithTimeout<OutputVerdict>(
    VALIDATION_TIMEOUT_MS,
    () => {
      const found = readOutput(message, output, matchesSchema);
      const problems = found.type === "found" ? findMismatch(found.value, output) : found.reason;
      if (problems === undefined) return buildAcceptance(found.type === "found" ? found.repairs : []);
      const missingCall =
        mode === "final-tool" && final === 0 ? `, expected a call of ${outputName(output)}` : "";
      return buildMismatch(`${problems}${missingCall}`);
    },
    () =>
      buildMismatch(
        `validation of the answer against the schema takes longer than ${VALIDATION_TIMEOUT_MS / 1000} s: simplify the schema`,
      ),
  );
  return verdict.ok || stopReason !== "length"
    ? verdict
    : buildMismatch(`the answer was cut off by the output limit: ${verdict.problems}`);
}

/** Formats the output of an accepted answer as JSON. */
export function formatOutput(message: AssistantMessage, output: StructuredOutput): string | undefined {
  const found = readOutput(message, output, matchesSchema);
  return found.type === "found" ? JSON.stringify(found.value) : undefined;
}

function buildAcceptance(repairs: readonly string[]): OutputVerdict {
  if (repairs.length === 0) return { ok: true };
  return { ok: true, repairs: repairs.map((repair) => redactPreview(repair, REPAIR_BYTES)) };
}

function buildMismatch(problems: string): OutputVerdict {
  return { ok: false, problems: redactPreview(problems, PROBLEMS_BYTES) };
}

function findMismatch(value: unknown, output: StructuredOutput): string | undefined {
  const problems = describeSchemaErrors(value, getOutputSchema(output));
  return problems?.replace(/(^|; )arguments: /g, "$1the answer: ");
}
