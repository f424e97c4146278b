import { Context } from "@temporalio/activity";
import type { FilterDigest, InputVerdict } from "../../core/machine/state/digest.ts";
import type { FilterInputInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { unloadMessage } from "../step/cargo.ts";
import { asFailure } from "../step/failure.ts";
import { beating } from "../step/heartbeat.ts";
import { checkNames } from "../step/known-names.ts";
import { currentStep } from "../step/step.ts";
import { storedStep } from "../step/stored-step.ts";
import { askFilters } from "./ask-filters.ts";
import { withinFilterTime } from "./filter-time.ts";

/**
 * Asks the input filters about each message that waits (PHI-08), in order, up to the first that is rejected. What was
 * stored once is what they have said, also when the step is done again.
 */
export async function filterInput(
  input: FilterInputInput,
  dependencies: Dependencies,
): Promise<FilterDigest> {
  const { transcript, definitions } = dependencies;
  const { cancellationSignal: signal } = Context.current();
  const step = currentStep(input, dependencies.process);
  try {
    return await beating(
      () => undefined,
      () =>
        storedStep(step, input, dependencies, async () => {
          const { inputFilters } = await definitions.byHash(input.definitionHash);
          const words = await Promise.all(
            input.messages.map((message) => unloadMessage(message, transcript)),
          );
          const verdicts = await verdictsOn(words, inputFilters, dependencies, signal);
          return { result: { branch: "", verdicts }, entries: [] };
        }),
    );
  } catch (error) {
    throw asFailure(error);
  }
}

/** Up to the first message that is rejected. */
export async function verdictsOn(
  messages: readonly { readonly id: string; readonly text: string }[],
  names: readonly string[],
  dependencies: Pick<Dependencies, "filters" | "log">,
  signal: AbortSignal,
): Promise<readonly InputVerdict[]> {
  checkNames("input filter", names, dependencies.filters.names);
  return await withinFilterTime({ names }, signal, async (within) => {
    const verdicts: InputVerdict[] = [];
    for (const { id, text } of messages) {
      const verdict = await askFilters(names, text, dependencies, within);
      verdicts.push({ id, ...verdict });
      if (verdict.type === "reject") break;
    }
    return verdicts;
  });
}
