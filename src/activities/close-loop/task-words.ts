import type { ClosedDigest } from "../../core/machine/state/digest.ts";
import type { TaskRef } from "../../core/machine/task.ts";
import { estimateText } from "../../core/view/estimate.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { subAgentTool } from "../../tools/builtin/sub-agent.ts";
import { textOf } from "../model/answer-digest.ts";
import { readCall } from "../model/read-call.ts";
import { DefinitionError } from "../step/failure.ts";

/** What a sub-agent is asked to do: it stands in the answer of the agent that has called it. */
export async function taskWords(task: TaskRef, transcript: Pick<Transcript, "entries">): Promise<string> {
  const { spawn, branch, answer, arguments: changed } = task;
  const [entry] = await transcript.entries(spawn.session, branch, answer, answer + 1);
  const call = callBy(entry?.message.role === "assistant" ? entry.message : undefined, spawn.toolCallId);
  const tool = subAgentTool({ name: spawn.toolName, description: "" });
  const given = changed ?? (call === undefined ? undefined : readCall(call, [tool]).runs?.value);
  const words = (given as { readonly task?: unknown } | undefined)?.task;
  if (typeof words === "string" && words !== "") return words;
  throw new DefinitionError(
    `The task of call ${spawn.toolCallId} is not in session ${spawn.session}, entry ${answer} of branch ${branch}: ` +
      "this worker's transcript is not the one in which the agent that has called is kept",
  );
}

function callBy(message: AssistantMessage | undefined, id: string) {
  return message?.content.flatMap((part) => (part.type === "toolCall" && part.id === id ? [part] : []))[0];
}

/** The last words that a sub-agent has said, or nothing. */
export async function wordsAt(
  {
    session,
    branch,
    position,
  }: { readonly session: string; readonly branch: string; readonly position: number },
  transcript: Pick<Transcript, "entries">,
): Promise<string | undefined> {
  const [entry] = await transcript.entries(session, branch, position, position + 1);
  return entry?.message.role === "assistant" ? textOf(entry.message) : undefined;
}

/** SUB-05: where the last answer stands that has a text. */
export async function lastWords(
  session: string,
  branch: string,
  { from, to }: { readonly from: number; readonly to: number },
  transcript: Pick<Transcript, "entries">,
): Promise<ClosedDigest["words"]> {
  const entries = await transcript.entries(session, branch, from, to);
  const last = entries.findLast(({ message }) => message.role === "assistant" && textOf(message) !== "");
  if (last?.message.role !== "assistant") return undefined;
  return { position: last.position, tokens: estimateText(textOf(last.message)) };
}
