import { CancelledFailure, Context } from "@temporalio/activity";
import { INLINE_BYTES } from "../../core/machine/append.ts";
import { BUILT_IN_REDUCERS, type ReducerPart } from "../../hooks/reducer.ts";
import { askWithin } from "../../hooks/time-limit.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { HandOverDigest, ReduceInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { ApplicationError, asFailure } from "../step/failure.ts";
import { beating } from "../step/heartbeat.ts";
import { checkNames } from "../step/known-names.ts";
import { keptText, saidIn } from "./hand-over.ts";

const REDUCER_TIMEOUT_MS = 5 * 60_000;

/** Makes one text of what all parts have said, and stores it. */
export async function reduceParts(
  { reducer: name, parts }: ReduceInput,
  dependencies: Dependencies,
): Promise<HandOverDigest> {
  return await beating(
    () => undefined,
    async () => {
      try {
        const said = await Promise.all(parts.map((part) => wordsOf(part, dependencies)));
        const text = await reduced(name, said, dependencies);
        const ref = await keptText(dependencies.transcript, text);
        return { ref, bytes: Buffer.byteLength(text), text: truncateForPreview(text, INLINE_BYTES) };
      } catch (error) {
        throw asFailure(error);
      }
    },
  );
}

async function reduced(
  name: string,
  parts: readonly ReducerPart[],
  { reducers }: Pick<Dependencies, "reducers">,
): Promise<string> {
  const builtIn = Object.keys(BUILT_IN_REDUCERS);
  checkNames(reducers.what, [name], [...builtIn, ...reducers.names]);
  const reducer = reducers.get(name) ?? BUILT_IN_REDUCERS[name];
  const signal = Context.current().cancellationSignal;
  const answer = await askWithin<unknown>((within) => reducer?.(parts, { signal: within }), {
    signal,
    timeoutMs: REDUCER_TIMEOUT_MS,
  });
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  if (answer.type === "failed") {
    throw new ApplicationError("reducer", `The reducer "${name}" failed: ${answer.message}`);
  }
  if (typeof answer.value === "string") return answer.value;
  throw new ApplicationError("reducer", `The reducer "${name}" gave ${typeof answer.value}, expected a text`);
}

type Part = ReduceInput["parts"][number];

/** A part without words is one all the same. */
async function wordsOf(part: Part, { transcript, definitions }: Dependencies): Promise<ReducerPart> {
  const { name, agent, session, outcome, definitionHash } = part;
  const told = { name, agent, session, outcome };
  if (part.loopId === undefined) return told;
  const { output } = await definitions.byHash(definitionHash);
  const text = await saidIn(part, outcome === "answered" ? output : undefined, transcript);
  return text === undefined ? told : { ...told, text };
}
