import { Context } from "@temporalio/activity";
import type { FilterDigest, InputVerdict } from "../../core/machine/state/digest.ts";
import type { FilterInputStepInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkNames } from "../step/check-names.ts";
import { toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { readFilterText } from "../step/message-parts.ts";
import { resolveMessage } from "../step/resolve-outbox.ts";
import { getCurrentStep } from "../step/step.ts";
import { runStoredStep } from "../step/stored-step.ts";
import { askFilters } from "./ask-filters.ts";
import { runWithFilterTimeout } from "./filter-time.ts";

/**
 * Runs the input filters on each waiting message (PHI-08), in order, up to the first rejection. A stored verdict
 * stays, also when the step runs again.
 */
export async function filterInput(
  input: FilterInputStepInput,
  dependencies: Dependencies,
): Promise<FilterDigest> {
  const { transcript, definitions } = dependencies;
  const { cancellationSignal: signal } = Context.current();
  const step = getCurrentStep(input, dependencies.process);
  try {
    return await withHeartbeat(
      () => undefined,
      () =>
        runStoredStep(step, input, dependencies, async () => {
          const { inputFilters } = await definitions.read(input.definitionHash);
          const texts = await Promise.all(
            input.messages.map(async (inbound) => {
              const message = await resolveMessage(inbound, transcript);
              return { id: message.id, text: await readFilterText(message, dependencies) };
            }),
          );
          const verdicts = await filterMessages(texts, inputFilters, dependencies, signal);
          return { result: { branch: "", verdicts }, entries: [] };
        }),
    );
  } catch (error) {
    throw toFailure(error);
  }
}

/** Filters messages up to the first rejection. */
export async function filterMessages(
  messages: readonly { readonly id: string; readonly text: string }[],
  names: readonly string[],
  dependencies: Pick<Dependencies, "filters" | "log">,
  signal: AbortSignal,
): Promise<readonly InputVerdict[]> {
  checkNames("input filter", names, dependencies.filters.names);
  return await runWithFilterTimeout({ names }, signal, async (within) => {
    const verdicts: InputVerdict[] = [];
    for (const { id, text } of messages) {
      const verdict = await askFilters(names, text, dependencies, within);
      verdicts.push({ id, ...verdict });
      if (verdict.type === "reject") break;
    }
    return verdicts;
  });
}
