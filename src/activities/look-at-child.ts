import { type Amounts, addAmounts, amountsOf, NOTHING } from "../core/budget/amounts.ts";
import type { Spent } from "../core/limits.ts";
import type { TaskReport } from "../core/task.ts";
import { costOf } from "../core/usage.ts";
import type { Usage } from "../schema/message.ts";
import type { LoopRecord } from "../transcript/loop.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { LookAtChildInput } from "./activities.ts";
import type { Dependencies } from "./dependencies.ts";
import { asFailure } from "./failure.ts";
import { lastWords } from "./task-words.ts";

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
    return { turns: turns ?? 0, tokens: usage.input + usage.output, costUsd: costUsd ?? 0 };
  }
  const ends = (await transcript.events(loopId, 0)).flatMap(({ body }) =>
    body.type === "TurnEnd" ? [body] : [],
  );
  const rates = (await transcript.definition(definitionHash))?.model.cost;
  const sum = (count: (usage: Usage) => number) => ends.reduce((all, { usage: one }) => all + count(one), 0);
  return {
    turns: ends.length,
    tokens: sum(({ input, output }) => input + output),
    costUsd: rates === undefined ? 0 : sum((one) => costOf(one, rates)),
  };
}
