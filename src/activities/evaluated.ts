import { utf8Length } from "../core/estimate.ts";
import { type BranchOutcome, shortStatus, statusOf } from "../core/evaluation/branch-outcome.ts";
import type { BranchEnd, DecideEvaluation } from "../core/evaluation/digest.ts";
import { lastAnswerText } from "../core/evaluation/judge-material.ts";
import { addUsage, type Cost, NO_USAGE } from "../core/usage.ts";
import type { AgentMessage, AssistantMessage, Usage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { LoopRecord } from "../transcript/loop.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Definitions } from "./definitions.ts";
import { spentIn } from "./look-at-child.ts";
import { outputText } from "./structured-output.ts";

/** A branch as the record has it, with its words: these stay in the activity. */
export type ReadBranch = {
  readonly outcome: BranchOutcome;
  /** Absent when no loop was opened. */
  readonly loop: LoopRecord | undefined;
  /** What it has added. */
  readonly own: readonly Entry[];
  /** Of its last answer; the JSON of a structured output. */
  readonly text: string;
  readonly turns: number;
  readonly costUsd: Cost;
};

type World = { readonly transcript: Transcript; readonly definitions: Pick<Definitions, "byHash"> };

/** PAR-03: what each branch has come to. What the record says goes before what its workflow was told. */
export async function readBranches(
  session: string,
  { at, ends }: Pick<DecideEvaluation, "at" | "ends">,
  world: World,
): Promise<readonly ReadBranch[]> {
  const loops = new Map((await world.transcript.loops(session)).map((loop) => [loop.loopId, loop]));
  return await Promise.all(
    ends.map((end, index) => readBranch(session, index, end, loops.get(end.loopId), at.position, world)),
  );
}

async function readBranch(
  session: string,
  index: number,
  { status }: BranchEnd,
  loop: LoopRecord | undefined,
  from: number,
  world: World,
): Promise<ReadBranch> {
  const { transcript } = world;
  const common = { index, originalContextLength: from };
  if (loop === undefined) {
    const outcome = { ...common, length: from, status, usage: NO_USAGE, textBytes: 0 };
    return { outcome, loop, own: [], text: "", turns: 0, costUsd: 0 };
  }
  const length = await transcript.length(session, loop.branch);
  const own = await transcript.entries(session, loop.branch, from, length);
  const text = await saidBy(loop, own, world);
  const { turns, costUsd } = await spentIn(loop, transcript);
  return {
    outcome: {
      ...common,
      loopId: loop.loopId,
      branch: loop.branch,
      length,
      status: loop.outcome === undefined ? status : shortStatus(statusOf(loop.outcome)),
      usage: await usageOf(loop, transcript),
      textBytes: utf8Length(text),
    },
    loop,
    own,
    text,
    turns,
    costUsd,
  };
}

async function saidBy(loop: LoopRecord, own: readonly Entry[], { definitions }: World): Promise<string> {
  const messages = own.map(({ message }) => message);
  const last = messages.findLast(isAnswer);
  if (loop.outcome?.type === "answered" && last !== undefined) {
    const { output } = await definitions.byHash(loop.definitionHash);
    const json = output === undefined || output.type === "text" ? undefined : outputText(last, output);
    if (json !== undefined) return json;
  }
  return lastAnswerText(messages);
}

function isAnswer(message: AgentMessage): message is AssistantMessage {
  return message.role === "assistant";
}

/** Of a loop that was cut off, as its turns say. */
async function usageOf(
  { loopId, usage }: LoopRecord,
  transcript: Pick<Transcript, "events">,
): Promise<Usage> {
  if (usage !== undefined) return usage;
  const events = await transcript.events(loopId, 0);
  return events.reduce(
    (sum, { body }) => (body.type === "TurnEnd" ? addUsage(sum, body.usage) : sum),
    NO_USAGE,
  );
}

/** What all branches began with, and what was asked of them. */
export async function readContext(
  session: string,
  { at, prompt }: Pick<DecideEvaluation, "at" | "prompt">,
  transcript: Transcript,
): Promise<{ readonly context: readonly AgentMessage[]; readonly prompts: readonly AgentMessage[] }> {
  const entries = await transcript.entries(session, at.branch, 0, at.position);
  const text = prompt === undefined ? undefined : await transcript.text(prompt);
  const content = [{ type: "text" as const, text: text ?? "" }];
  return {
    context: entries.map(({ message }) => message),
    prompts: text === undefined ? [] : [{ role: "user", content, timestamp: 0 }],
  };
}
