import { getLastAnswerText } from "../../conversation/evaluation/judge-material.ts";
import { addUsage, type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import { type BranchOutcome, shortStatus, toBranchStatus } from "../../core/evaluation/branch-outcome.ts";
import type { BranchEnd, SelectBranchCommand } from "../../core/evaluation/evaluation-digest.ts";
import { parsePromptReference } from "../../core/evaluation/prompt-reference.ts";
import { countUtf8Bytes } from "../../core/view/estimate.ts";
import type { AgentMessage, AssistantMessage, Content, Usage } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { readSpent } from "../job/inspect-child.ts";
import { formatOutput } from "../model/structured-output.ts";
import type { Definitions } from "../step/definitions.ts";

/** A branch with its texts, as the record contains it. The texts stay in the activity. */
export type ReadBranch = {
  readonly outcome: BranchOutcome;
  /** Absent when no loop was opened. */
  readonly loop: LoopRecord | undefined;
  /** The entries that the branch has added. */
  readonly own: readonly Entry[];
  /** The text of its last answer, or the JSON of a structured output. */
  readonly text: string;
  readonly turns: number;
  readonly costUsd: Cost;
};

type BranchReader = { readonly transcript: Transcript; readonly definitions: Pick<Definitions, "read"> };

/** Reads the results of all branches (PAR-03). The record takes precedence over what the workflow reported. */
export async function readBranches(
  session: string,
  { at, ends }: Pick<SelectBranchCommand, "at" | "ends">,
  world: BranchReader,
): Promise<readonly ReadBranch[]> {
  const loops = new Map((await world.transcript.readLoops(session)).map((loop) => [loop.loopId, loop]));
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
  world: BranchReader,
): Promise<ReadBranch> {
  const { transcript } = world;
  const common = { index, originalContextLength: from };
  if (loop === undefined) {
    const outcome = { ...common, length: from, status, usage: NO_USAGE, textBytes: 0 };
    return { outcome, loop, own: [], text: "", turns: 0, costUsd: 0 };
  }
  const length = await transcript.countEntries(session, loop.branch);
  const own = await transcript.readEntries(session, loop.branch, from, length);
  const text = await readBranchText(loop, own, world);
  const { turns, costUsd } = await readSpent(loop, transcript);
  return {
    outcome: {
      ...common,
      loopId: loop.loopId,
      branch: loop.branch,
      length,
      status: loop.outcome === undefined ? status : shortStatus(toBranchStatus(loop.outcome)),
      usage: await readUsage(loop, transcript),
      textBytes: countUtf8Bytes(text),
    },
    loop,
    own,
    text,
    turns,
    costUsd,
  };
}

async function readBranchText(
  loop: LoopRecord,
  own: readonly Entry[],
  { definitions }: BranchReader,
): Promise<string> {
  const messages = own.map(({ message }) => message);
  const last = messages.findLast(isAnswer);
  if (loop.outcome?.type === "answered" && last !== undefined) {
    const { output } = await definitions.read(loop.definitionHash);
    const json = output === undefined || output.type === "text" ? undefined : formatOutput(last, output);
    if (json !== undefined) return json;
  }
  return getLastAnswerText(messages);
}

function isAnswer(message: AgentMessage): message is AssistantMessage {
  return message.role === "assistant";
}

/** Reads the usage of an interrupted loop from its turns. */
async function readUsage(
  { loopId, usage }: LoopRecord,
  transcript: Pick<Transcript, "readEvents">,
): Promise<Usage> {
  if (usage !== undefined) return usage;
  const events = await transcript.readEvents(loopId, 0);
  return events.reduce(
    (sum, { body }) => (body.type === "TurnEnd" ? addUsage(sum, body.usage) : sum),
    NO_USAGE,
  );
}

async function readPrompt(
  prompt: string,
  transcript: Pick<Transcript, "readText" | "readParts">,
): Promise<readonly Content[] | undefined> {
  const { ref, parts } = parsePromptReference(prompt);
  if (parts === true) return await transcript.readParts(ref);
  const text = await transcript.readText(ref);
  return text === undefined ? undefined : [{ type: "text", text }];
}

/** Reads what all branches began with, and their prompt; images and files have no data. */
export async function readContext(
  session: string,
  { at, prompt }: Pick<SelectBranchCommand, "at" | "prompt">,
  transcript: Transcript,
): Promise<{ readonly context: readonly AgentMessage[]; readonly prompts: readonly AgentMessage[] }> {
  const entries = await transcript.readEntries(session, at.branch, 0, at.position, "reference");
  const content = prompt === undefined ? undefined : await readPrompt(prompt, transcript);
  return {
    context: entries.map(({ message }) => message),
    prompts: content === undefined ? [] : [{ role: "user", content: [...content], timestamp: 0 }],
  };
}
