import type { ClosedDigest } from "../../core/machine/state/digest.ts";
import type { TaskRef } from "../../core/machine/state/task.ts";
import { estimateText } from "../../core/view/estimate.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createSubAgentTool } from "../../tools/builtin/sub-agent-tool.ts";
import { parseCall } from "../model/read-call.ts";
import { DefinitionError } from "../step/failure.ts";

/** Reads the task of a sub-agent, which the answer of the calling agent contains. */
export async function readTaskText(
  task: TaskRef,
  transcript: Pick<Transcript, "readEntries">,
): Promise<string> {
  const { spawn, branch, answer, changedArguments: changed } = task;
  const [entry] = await transcript.readEntries(spawn.session, branch, answer, answer + 1);
  const call = findCall(entry?.message.role === "assistant" ? entry.message : undefined, spawn.toolCallId);
  const tool = createSubAgentTool({ name: spawn.toolName, description: "" });
  const given = changed ?? (call === undefined ? undefined : parseCall(call, [tool]).runs?.value);
  const text = (given as { readonly task?: unknown } | undefined)?.task;
  if (typeof text === "string" && text !== "") return text;
  throw new DefinitionError(
    `The task of call ${spawn.toolCallId} is not in session ${spawn.session}, entry ${answer} of branch ${branch}: ` +
      "this worker's transcript is not the transcript of the calling agent",
  );
}

function findCall(message: AssistantMessage | undefined, id: string) {
  return message?.content.flatMap((part) => (part.type === "toolCall" && part.id === id ? [part] : []))[0];
}

/** Reads the text of a sub-agent's last answer, if there is one. */
export async function readAnswerText(
  {
    session,
    branch,
    position,
  }: { readonly session: string; readonly branch: string; readonly position: number },
  transcript: Pick<Transcript, "readEntries">,
): Promise<string | undefined> {
  const [entry] = await transcript.readEntries(session, branch, position, position + 1);
  return entry?.message.role === "assistant" ? getMessageText(entry.message) : undefined;
}

/** Finds the position of the last answer that has a text (SUB-05). */
export async function findLastAnswer(
  session: string,
  branch: string,
  { from, to }: { readonly from: number; readonly to: number },
  transcript: Pick<Transcript, "readEntries">,
): Promise<ClosedDigest["lastAnswer"]> {
  const entries = await transcript.readEntries(session, branch, from, to);
  const last = entries.findLast(
    ({ message }) => message.role === "assistant" && getMessageText(message) !== "",
  );
  if (last?.message.role !== "assistant") return undefined;
  return { position: last.position, tokens: estimateText(getMessageText(last.message)) };
}
