import { outputName } from "../../conversation/final-tool.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { RunResult } from "../../workflows/result.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { newestLoop } from "./newest-loop.ts";
import { INLINE_BYTES } from "./words.ts";

/** The result of a session whose run the server has forgotten; nothing when the transcript has none either. */
export async function pastResult(link: Link, session: string): Promise<RunResult | undefined> {
  const transcript = await link.storage.existing();
  const record = await transcript?.session(session);
  if (transcript === undefined || record === undefined) return undefined;
  const loop = newestLoop(await transcript.loops(session));
  if (loop === undefined) return undefined;
  if (loop.outcome === undefined) {
    throw new HoldfastError(
      "run-terminated",
      `The run of session ${session} was ended from outside, and the server has forgotten it. What it had done is in ` +
        "the transcript; prompt the session to go on from there.",
      { session },
    );
  }
  const entries = await transcript.entries(session, loop.branch, loop.from, Number.MAX_SAFE_INTEGER);
  const last = entries.findLast(({ message }) => message.role === "assistant");
  const said = last?.message.role === "assistant" ? last.message : undefined;
  const words = said === undefined ? undefined : await wordsOf(transcript, loop.definitionHash, said);
  return {
    session,
    outcome: loop.outcome,
    loopId: loop.loopId,
    branch: loop.branch,
    ...(words === undefined || last === undefined ? {} : { ...words, position: last.position }),
  };
}

async function wordsOf(
  transcript: Transcript,
  definitionHash: string,
  answer: AssistantMessage,
): Promise<Pick<RunResult, "text" | "json"> | undefined> {
  const output = (await transcript.definition(definitionHash))?.output;
  const isStructured = output !== undefined && output.type !== "text";
  const whole = isStructured ? valueText(answer, output) : textOf(answer);
  if (whole === "") return undefined;
  const text = truncateForPreview(whole, INLINE_BYTES);
  if (!isStructured) return { text };
  return { text, json: text === whole ? "whole" : "cut" };
}

function valueText(answer: AssistantMessage, output: StructuredOutput): string {
  const call = answer.content.find((part) => part.type === "toolCall" && part.name === outputName(output));
  return call?.type === "toolCall" ? (JSON.stringify(call.arguments) ?? "") : textOf(answer);
}

function textOf({ content }: AssistantMessage): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
