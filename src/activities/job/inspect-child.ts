import type { Amounts } from "../../core/budget/account-state.ts";
import { addAmounts, type CountedSpending, NO_AMOUNTS, toAmounts } from "../../core/budget/amounts.ts";
import { addCosts, computeCost } from "../../core/budget/usage.ts";
import type { TaskReport } from "../../core/machine/state/task.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { ModelFallback } from "../../schema/loop-event.ts";
import type { CostRates } from "../../schema/model.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { InspectChildInput } from "../activity-types.ts";
import { findLastAnswer } from "../close-loop/task-text.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";

type TranscriptReader = Pick<
  Transcript,
  | "readDefinition"
  | "readSession"
  | "findSessions"
  | "readLoops"
  | "readEvents"
  | "readEntries"
  | "countEntries"
>;

/** The most sub-agents of one agent that are read. */
const MAX_CHILDREN = 10_000;

/** Reads the state of a sub-agent that ended without a report from its record; `null` where it has no record. */
export async function inspectChild(
  { session }: InspectChildInput,
  { transcript }: Pick<Dependencies, "transcript">,
): Promise<TaskReport | null> {
  try {
    const record = await transcript.readSession(session);
    if (record === undefined) return null;
    const loops = await transcript.readLoops(session);
    const to = await transcript.countEntries(session, record.headBranch);
    const from = loops[0]?.from ?? 0;
    const lastAnswer = await findLastAnswer(session, record.headBranch, { from, to }, transcript);
    const last = loops.at(-1);
    return {
      session,
      outcome: last?.outcome ?? { type: "stopped", reason: "it was terminated from outside" },
      branch: record.headBranch,
      ...omitUndefined({ loopId: last?.loopId, position: lastAnswer?.position }),
      tokens: lastAnswer?.tokens ?? 0,
      messages: to - from,
      used: await sumSessionAmounts(session, loops, transcript),
    };
  } catch (error) {
    throw toFailure(error);
  }
}

/** Sums the amounts of a session, including the usage and the number of its own sub-agents. */
async function sumSessionAmounts(
  session: string,
  loops: readonly LoopRecord[],
  transcript: TranscriptReader,
): Promise<Amounts> {
  const own = await Promise.all(loops.map(async (loop) => toAmounts(await readSpent(loop, transcript))));
  const spawned = await transcript.findSessions({ limit: MAX_CHILDREN, spawnedBy: session });
  const below = await Promise.all(
    spawned.map(async ({ id }) =>
      addAmounts(ONE_CHILD, await sumSessionAmounts(id, await transcript.readLoops(id), transcript)),
    ),
  );
  return [...own, ...below].reduce(addAmounts, NO_AMOUNTS);
}

const ONE_CHILD: Amounts = { ...NO_AMOUNTS, children: 1 };

/** Reads what a loop has spent: for a closed loop from its end, otherwise from its turns. */
export async function readSpent(
  { loopId, usage, turns, costUsd, definitionHash }: LoopRecord,
  transcript: TranscriptReader,
): Promise<CountedSpending> {
  if (usage !== undefined) {
    return { turns: turns ?? 0, tokens: usage.input + usage.output, costUsd: costUsd ?? null };
  }
  let definition = await transcript.readDefinition(definitionHash);
  let fallback: ModelFallback["to"] | undefined;
  let sum: CountedSpending = { turns: 0, tokens: 0, costUsd: 0 };
  for (const { body } of await transcript.readEvents(loopId, 0)) {
    if (body.type === "DefinitionChanged" && body.applied)
      definition = await transcript.readDefinition(body.to);
    if (body.type === "TurnStart") fallback = undefined;
    if (body.type === "ModelFallback" && body.for === undefined) fallback = body.to;
    if (body.type !== "TurnEnd") continue;
    const { input, output } = body.usage;
    sum = {
      turns: sum.turns + 1,
      tokens: sum.tokens + input + output,
      costUsd: addCosts(sum.costUsd, computeCost(body.usage, findRates(definition, fallback))),
    };
  }
  return sum;
}

/** Finds the rates of the model that answered. */
function findRates(
  definition: AgentDefinition | undefined,
  fallback: ModelFallback["to"] | undefined,
): CostRates | null {
  if (definition === undefined) return null;
  const { model, fallbacks = [] } = definition;
  if (fallback === undefined) return model.cost;
  const to = fallbacks.find(({ provider, id }) => provider === fallback.provider && id === fallback.model);
  return (to ?? model).cost;
}
