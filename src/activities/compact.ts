import { Context } from "@temporalio/activity";
import type { CompactDigest } from "../core/digest.ts";
import { ProviderError } from "../providers/provider-error.ts";
import type { CompactInput } from "./activities.ts";
import { claimStep } from "./claim-step.ts";
import type { Dependencies } from "./dependencies.ts";
import { asFailure } from "./failure.ts";
import { beating } from "./heartbeat.ts";
import { logRetry } from "./log-retry.ts";
import { patiently } from "./patience.ts";
import { smaller } from "./smaller-view.ts";
import { currentStep } from "./step.ts";

/**
 * Makes a view smaller (design 3.2). The record stays whole: what stands for older entries is one more entry, which no
 * model sees, and the new view refers to it.
 */
export async function compact(input: CompactInput, dependencies: Dependencies): Promise<CompactDigest> {
  const { transcript, conversations, definitions, log } = dependencies;
  const { cancellationSignal: signal } = Context.current();
  const step = currentStep(input, dependencies.process);
  const definition = await definitions.byHash(input.definitionHash).catch((error) => {
    throw asFailure(error);
  });
  try {
    return await beating(
      () => undefined,
      async () => {
        const claimed = await claimStep(step, input, dependencies, signal);
        if (claimed.type === "stored") {
          return { ...(claimed.result as CompactDigest), branch: claimed.branch };
        }
        const { branch } = claimed;
        const entries = await conversations.entries(step.session, { ...input.view, branch });
        const { digest, entry } = await smaller(entries, definition, input, Date.now(), dependencies, signal);
        const stored = await patiently(
          () =>
            transcript.store({
              loopId: input.loopId,
              base: input.base,
              branch,
              step,
              atMs: Date.now(),
              outbox: { entries: [], events: [] },
              entries: entry === undefined ? [] : [entry],
              result: digest,
            }),
          signal,
          log,
        );
        return { ...(stored.result as CompactDigest), branch: stored.branch };
      },
    );
  } catch (error) {
    if (error instanceof ProviderError) await transcript.release(step).catch(() => undefined);
    const failure = asFailure(error, definition.retry);
    logRetry(failure, definition.retry.maxRetries, log);
    throw failure;
  }
}
