import { Context } from "@temporalio/activity";
import type { CompactDigest } from "../../core/machine/state/digest.ts";
import { ProviderError } from "../../models/provider-error.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Step } from "../../store/transcript/step.ts";
import type { CompactInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { logRetry } from "../model/log-retry.ts";
import { WaitReporter } from "../model/wait-reporter.ts";
import { toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { withLiveOutput } from "../step/live-output.ts";
import { getCurrentStep } from "../step/step.ts";
import { runStoredStep } from "../step/stored-step.ts";
import { compactEntries } from "./compact-entries.ts";

/**
 * Makes a view smaller (design 3.2). The record stays complete: the text that replaces older entries is one more
 * entry, which no model sees, and the new view refers to it.
 */
export async function compact(input: CompactInput, dependencies: Dependencies): Promise<CompactDigest> {
  const step = getCurrentStep(input, dependencies.process);
  return await withLiveOutput(dependencies.hub, step, input, (publish) =>
    compactOnce(input, step, new WaitReporter(publish), dependencies),
  );
}

async function compactOnce(
  input: CompactInput,
  step: Step,
  waits: WaitReporter,
  dependencies: Dependencies,
): Promise<CompactDigest> {
  const { transcript, conversations, definitions, log } = dependencies;
  const { cancellationSignal: signal } = Context.current();
  let retry: AgentDefinition["retry"] | undefined;
  try {
    return await withHeartbeat(
      () => waits.details,
      async () => {
        const definition = await definitions.read(input.definitionHash);
        ({ retry } = definition);
        return await runStoredStep(step, input, dependencies, async ({ branch }) => {
          const entries = await conversations.readEntries(step.session, { ...input.view, branch });
          const nowMs = Date.now();
          const made = await compactEntries(
            entries,
            definition,
            input,
            nowMs,
            dependencies,
            signal,
            waits.onWait,
          );
          return { result: made.digest, entries: made.entry === undefined ? [] : [made.entry] };
        });
      },
    );
  } catch (error) {
    if (error instanceof ProviderError) await transcript.release(step).catch(() => undefined);
    const failure = toFailure(error, retry);
    if (retry !== undefined) logRetry(failure, retry.maxRetries, log);
    throw failure;
  }
}
