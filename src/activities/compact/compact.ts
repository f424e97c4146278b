import { Context } from "@temporalio/activity";
import type { CompactDigest } from "../../core/machine/state/digest.ts";
import { ProviderError } from "../../models/provider-error.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { CompactInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { logRetry } from "../model/log-retry.ts";
import { Waits } from "../model/waits.ts";
import { asFailure } from "../step/failure.ts";
import { beating } from "../step/heartbeat.ts";
import { liveOutput } from "../step/live.ts";
import { currentStep } from "../step/step.ts";
import { storedStep } from "../step/stored-step.ts";
import { smaller } from "./smaller-view.ts";

/**
 * Makes a view smaller (design 3.2). The record stays whole: what stands for older entries is one more entry, which no
 * model sees, and the new view refers to it.
 */
export async function compact(input: CompactInput, dependencies: Dependencies): Promise<CompactDigest> {
  const { transcript, conversations, definitions, hub, log } = dependencies;
  const { cancellationSignal: signal } = Context.current();
  const step = currentStep(input, dependencies.process);
  const waits = new Waits(liveOutput(hub, step, input));
  let retry: AgentDefinition["retry"] | undefined;
  try {
    return await beating(
      () => waits.details,
      async () => {
        const definition = await definitions.byHash(input.definitionHash);
        ({ retry } = definition);
        return await storedStep(step, input, dependencies, async ({ branch }) => {
          const entries = await conversations.entries(step.session, { ...input.view, branch });
          const nowMs = Date.now();
          const made = await smaller(entries, definition, input, nowMs, dependencies, signal, waits.onWait);
          return { result: made.digest, entries: made.entry === undefined ? [] : [made.entry] };
        });
      },
    );
  } catch (error) {
    if (error instanceof ProviderError) await transcript.release(step).catch(() => undefined);
    const failure = asFailure(error, retry);
    if (retry !== undefined) logRetry(failure, retry.maxRetries, log);
    throw failure;
  }
}
