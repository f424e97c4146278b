import { CancelledFailure, Context } from "@temporalio/activity";
import { INLINE_BYTES } from "../../core/machine/append-message.ts";
import { BUILT_IN_REDUCERS, type ReducerPart } from "../../hooks/reducer.ts";
import { askWithTimeout } from "../../hooks/time-limit.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { PassOutputDigest, ReduceInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkNames } from "../step/check-names.ts";
import { ApplicationError, toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { readOutput, storeText } from "./pass-output.ts";

const REDUCER_TIMEOUT_MS = 5 * 60_000;

/** Combines the outputs of all parts into one text, and stores it. */
export async function reduceParts(
  { reducer: name, parts }: ReduceInput,
  dependencies: Dependencies,
): Promise<PassOutputDigest> {
  return await withHeartbeat(
    () => undefined,
    async () => {
      try {
        const results = await Promise.all(parts.map((part) => readPart(part, dependencies)));
        const text = await runReducer(name, results, dependencies);
        const ref = await storeText(dependencies.transcript, text);
        return { ref, bytes: Buffer.byteLength(text), text: truncateForPreview(text, INLINE_BYTES) };
      } catch (error) {
        throw toFailure(error);
      }
    },
  );
}

async function runReducer(
  name: string,
  parts: readonly ReducerPart[],
  { reducers }: Pick<Dependencies, "reducers">,
): Promise<string> {
  const builtIn = Object.keys(BUILT_IN_REDUCERS);
  checkNames(reducers.label, [name], [...builtIn, ...reducers.names]);
  const reducer = reducers.get(name) ?? BUILT_IN_REDUCERS[name];
  const signal = Context.current().cancellationSignal;
  const answer = await askWithTimeout<unknown>((within) => reducer?.(parts, { signal: within }), {
    signal,
    timeoutMs: REDUCER_TIMEOUT_MS,
  });
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  if (answer.type === "failed") {
    throw new ApplicationError("reducer", `The reducer "${name}" failed: ${answer.message}`);
  }
  if (typeof answer.value === "string") return answer.value;
  throw new ApplicationError(
    "reducer",
    `The reducer "${name}" returned ${typeof answer.value}, expected a text`,
  );
}

type Part = ReduceInput["parts"][number];

/** Reads a part. A part without a text counts too. */
async function readPart(part: Part, { transcript, definitions }: Dependencies): Promise<ReducerPart> {
  const { name, agent, session, outcome, definitionHash } = part;
  const partFields = { name, agent, session, outcome };
  if (part.loopId === undefined) return partFields;
  const { output } = await definitions.read(definitionHash);
  const text = await readOutput(part, outcome === "answered" ? output : undefined, transcript);
  return text === undefined ? partFields : { ...partFields, text };
}
