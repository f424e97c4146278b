import { addSpent, NO_SPENT, type Spent } from "../core/limits.ts";
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
      ...(await below(session, loops, transcript)),
    };
  } catch (error) {
    throw asFailure(error);
  }
}

type Below = Pick<TaskReport, "spent" | "children">;

/** With all that its own sub-agents have spent and started. */
async function below(session: string, loops: readonly LoopRecord[], transcript: Record): Promise<Below> {
  const own = await Promise.all(loops.map((loop) => spentIn(loop, transcript)));
  const spawned = await transcript.sessions({ limit: MOST, spawnedBy: session });
  const theirs = await Promise.all(
    spawned.map(async ({ id }) => below(id, await transcript.loops(id), transcript)),
  );
  return {
    spent: [...own, ...theirs.map(({ spent }) => spent)].reduce(addSpent, NO_SPENT),
    children: theirs.reduce((sum, { children }) => sum + children, spawned.length),
  };
}

/** Of a loop that was closed, as its end says; else as its turns say. */
async function spentIn(
  { loopId, usage, turns, costUsd, startedAtMs, endedAtMs, definitionHash }: LoopRecord,
  transcript: Record,
): Promise<Spent> {
  const durationMs = Math.max(0, (endedAtMs ?? startedAtMs) - startedAtMs);
  if (usage !== undefined) {
    return { turns: turns ?? 0, tokens: usage.input + usage.output, durationMs, costUsd: costUsd ?? 0 };
  }
  const ends = (await transcript.events(loopId, 0)).flatMap(({ body }) =>
    body.type === "TurnEnd" ? [body] : [],
  );
  const rates = (await transcript.definition(definitionHash))?.model.cost;
  const sum = (count: (usage: Usage) => number) => ends.reduce((all, { usage: one }) => all + count(one), 0);
  return {
    turns: ends.length,
    tokens: sum(({ input, output }) => input + output),
    durationMs,
    costUsd: rates === undefined ? 0 : sum((one) => costOf(one, rates)),
  };
}
