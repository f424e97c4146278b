import { outputName } from "../../conversation/final-tool.ts";
import { outputValue } from "../../conversation/output-value.ts";
import type { OutputVerdict } from "../../core/machine/state/digest.ts";
import type { OutputRoad } from "../../models/provider.ts";
import type { ProviderRegistry } from "../../models/registry.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { schemaProblem } from "../../tools/argument-repair/check-schema.ts";
import { describeMisfits } from "../../tools/argument-repair/describe-misfits.ts";
import { resolveName } from "../../tools/argument-repair/resolve-name.ts";
import type { Tool } from "../../tools/tool.ts";
import { DefinitionError, OutputError } from "../step/failure.ts";
import { withinTime } from "../step/within-time.ts";

/** With the "..." of a cut, 512. */
const PROBLEMS_BYTES = 509;

/** For finding a value in an answer and holding it against the schema; a pattern in a schema may compute for ever. */
const JUDGING_MS = 2_000;

/** How one definition's output is got from one vendor. */
export type OutputPlan = { readonly output: StructuredOutput; readonly road: OutputRoad };

type Defined = Pick<AgentDefinition, "output" | "model">;

/** `undefined` where the output is a text. */
export function outputPlan(
  { output, model }: Defined,
  providers: Pick<ProviderRegistry, "get">,
): OutputPlan | undefined {
  if (output === undefined || output.type === "text") return undefined;
  const road = providers.get(model.api)?.outputRoad?.(model, output);
  if (road !== undefined) return { output, road };
  throw new OutputError(
    `A model that is spoken to by ${model.api} cannot be held to an output of type ${output.type}: ` +
      "leave `output` out of the definition, or choose another model",
  );
}

/** Finds out before a model is paid what could not work. */
export function checkOutput(
  definition: Defined,
  providers: Pick<ProviderRegistry, "get">,
  tools: readonly Tool[],
): void {
  const plan = outputPlan(definition, providers);
  if (plan === undefined) return;
  const { output, road } = plan;
  if (output.type === "json-schema") {
    const problem = schemaProblem(output.schema);
    if (problem !== undefined)
      throw new DefinitionError(`output.schema is not a JSON Schema that can be used: ${problem}`);
  }
  if (road === "native") return;
  const taken = resolveName(outputName(output), tools);
  if (taken === undefined) return;
  throw new DefinitionError(
    `The output is called ${outputName(output)}, which the tool ${taken.name} answers to: give it another name with output.name`,
  );
}

export function isFinalCall(plan: OutputPlan | undefined, toolName: string): boolean {
  return plan?.road === "final-tool" && toolName === outputName(plan.output);
}

/** The verdict on an answer that claims to be the last; `undefined` for one that goes on with calls, or has failed. */
export function judgeOutput(
  message: AssistantMessage,
  { output, road }: OutputPlan,
): OutputVerdict | undefined {
  const { stopReason, content } = message;
  if (stopReason === "error" || stopReason === "aborted") return undefined;
  const calls = content.flatMap((part) => (part.type === "toolCall" ? [part.name] : []));
  const final = calls.filter((name) => road === "final-tool" && name === outputName(output)).length;
  if (calls.length > final) return undefined;
  if (stopReason === "guardRail") return unfit("the vendor has filtered the answer");
  if (road === "final-tool") {
    if (final === 0) return unfit(`found a text, expected a call of ${outputName(output)}`);
    if (stopReason === "length") return unfit("the answer was cut off by the output limit");
    if (final > 1) return unfit(`found ${final} calls of ${outputName(output)}, expected one`);
  }
  const problems = withinTime(
    JUDGING_MS,
    () => {
      const found = outputValue(message, (value) => misfitsOf(value, output) === undefined);
      return found.type === "found" ? misfitsOf(found.value, output) : found.reason;
    },
    () =>
      `it takes longer than ${JUDGING_MS / 1000} s to hold the answer against the schema: make it simpler`,
  );
  if (problems === undefined) return { ok: true };
  return unfit(
    stopReason === "length" ? `the answer was cut off by the output limit: ${problems}` : problems,
  );
}

/** The output of an answer that was judged to be one, as JSON. */
export function outputText(message: AssistantMessage, output: StructuredOutput): string | undefined {
  const found = outputValue(message, (value) => misfitsOf(value, output) === undefined);
  return found.type === "found" ? JSON.stringify(found.value) : undefined;
}

function unfit(problems: string): OutputVerdict {
  return { ok: false, problems: shownBriefly(problems, PROBLEMS_BYTES) };
}

const ANY_OBJECT = { type: "object" } as const;

function misfitsOf(value: unknown, output: StructuredOutput): string | undefined {
  const said = describeMisfits(value, output.type === "json" ? ANY_OBJECT : output.schema);
  return said?.replace(/(^|; )arguments: /g, "$1the answer: ");
}
