import { type Amounts, addAmounts, amountsOf, NOTHING } from "../../core/budget/amounts.ts";
import type { Spent } from "../../core/budget/limits.ts";
import { addCosts, costOf } from "../../core/budget/usage.ts";
import type { TaskReport } from "../../core/machine/task.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { CostRates } from "../../schema/model.ts";
import type { FellBack } from "../../schema/record.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { LookAtChildInput } from "../activities.ts";
import { lastWords } from "../close-loop/task-words.ts";
import type { Dependencies } from "../dependencies.ts";
import { asFailure } from "../step/failure.ts";

type Record = Pick<
  Transcript,
  "definition" | "session" | "sessions" | "loops" | "events" | "entries" | "length"
>;

/** Sub-agents of one agent that are looked at. */
const MOST = 10_000;

/** What the record shows of a sub-agent that is gone without a report; `null` where it has none. */
export async function lookAtChild(
  { session }: LookAtChildInput,
  { transcript }: Pick<Dependencies, "transcript">,
): Promise<TaskReport | null> {
  try {
    const record = await transcript.session(session);
    if (record === undefined) return null;
    const loops = await transcript.loops(session);
    const to = await transcript.length(session, record.headBranch);
    const from = loops[0]?.from ?? 0;
    const words = await lastWords(session, record.headBranch, { from, to }, transcript);
    const last = loops.at(-1);
    return {
      session,
      outcome: last?.outcome ?? { type: "stopped", reason: "it was ended from outside" },
      branch: record.headBranch,
      ...(last === undefined ? {} : { loopId: last.loopId }),
      ...(words === undefined ? {} : { position: words.position }),
      tokens: words?.tokens ?? 0,
      messages: to - from,
      used: await usedIn(session, loops, transcript),
    };
  } catch (error) {
    throw asFailure(error);
  }
}

/** With all that its own sub-agents have used, and have been. */
async function usedIn(session: string, loops: readonly LoopRecord[], transcript: Record): Promise<Amounts> {
  const own = await Promise.all(loops.map(async (loop) => amountsOf(await spentIn(loop, transcript))));
  const spawned = await transcript.sessions({ limit: MOST, spawnedBy: session });
  const below = await Promise.all(
    spawned.map(async ({ id }) => addAmounts(ONE, await usedIn(id, await transcript.loops(id), transcript))),
  );
  return [...own, ...below].reduce(addAmounts, NOTHING);
}

const ONE: Amounts = { ...NOTHING, children: 1 };

/** Of a loop that was closed, as its end says; else as its turns say. */
export async function spentIn(
  { loopId, usage, turns, costUsd, definitionHash }: LoopRecord,
  transcript: Record,
): Promise<Omit<Spent, "durationMs">> {
  if (usage !== undefined) {
    return { turns: turns ?? 0, tokens: usage.input + usage.output, costUsd: costUsd ?? null };
  }
  let definition = await transcript.definition(definitionHash);
  let fellBack: FellBack["to"] | undefined;
  let sum: Omit<Spent, "durationMs"> = { turns: 0, tokens: 0, costUsd: 0 };
  for (const { body } of await transcript.events(loopId, 0)) {
    if (body.type === "DefinitionChanged" && body.applied) definition = await transcript.definition(body.to);
    if (body.type === "TurnStart") fellBack = undefined;
    if (body.type === "ModelFellBack" && body.for === undefined) fellBack = body.to;
    if (body.type !== "TurnEnd") continue;
    const { input, output } = body.usage;
    sum = {
      turns: sum.turns + 1,
      tokens: sum.tokens + input + output,
      costUsd: addCosts(sum.costUsd, costOf(body.usage, ratesOf(definition, fellBack))),
    };
  }
  return sum;
}

/** Of the model that has answered. */
function ratesOf(
  definition: AgentDefinition | undefined,
  fellBack: FellBack["to"] | undefined,
): CostRates | null {
  if (definition === undefined) return null;
  const { model, fallbacks = [] } = definition;
  if (fellBack === undefined) return model.cost;
  const to = fallbacks.find(({ provider, id }) => provider === fellBack.provider && id === fellBack.model);
  return (to ?? model).cost;
}
