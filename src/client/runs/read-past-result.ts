import { readOutput } from "../../conversation/output-value.ts";
import { matchesSchema } from "../../platform/json-schema/schema-validator.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { RunResult } from "../../workflows/run-result.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findNewestLoop } from "./find-newest-loop.ts";
import { readLoopTotals } from "./loop-totals.ts";
import { INLINE_BYTES } from "./message-input.ts";
import { getRetryingTranscript } from "./retry-outage.ts";

/**
 * Returns the result of a session whose run the server has deleted, which is that of its newest loop; nothing if the
 * transcript has none either.
 */
export async function readPastResult(link: ClientLink, session: string): Promise<RunResult | undefined> {
  const transcript = await link.storage.openExistingTranscript();
  const record = await transcript?.readSession(session);
  if (transcript === undefined || record === undefined) return undefined;
  const loop = findNewestLoop(await transcript.readLoops(session));
  if (loop === undefined) return undefined;
  if (loop.outcome === undefined) {
    throw new HoldfastError(
      "run-terminated",
      `The run of session ${session} was ended from outside, and the server has deleted it. Its completed work is in ` +
        "the transcript; prompt the session to continue.",
      { session },
    );
  }
  const entries = await transcript.readEntries(session, loop.branch, loop.from, Number.MAX_SAFE_INTEGER);
  const last = entries.findLast(({ message }) => message.role === "assistant");
  const answer = last?.message.role === "assistant" ? last.message : undefined;
  const output =
    answer === undefined ? undefined : await readAnswerOutput(transcript, loop.definitionHash, answer);
  return {
    session,
    outcome: loop.outcome,
    loopId: loop.loopId,
    branch: loop.branch,
    ...(await readLoopTotals(transcript, loop)),
    ...(output === undefined || last === undefined ? {} : { ...output, position: last.position }),
  };
}

/**
 * Adds the text of the answer to the result of a sub-agent's run, or of a job's part, which has only a report. Without the
 * transcript, the result stays as it is.
 */
export async function addReportedText<Result extends RunResult>(
  link: ClientLink,
  result: Result,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const { session, report } = result;
  if (report?.loopId === undefined || report.position === undefined) return result;
  const { branch, loopId, position } = report;
  try {
    const transcript = await getRetryingTranscript(link.storage, signal);
    const loop = (await transcript?.readLoops(session))?.find((one) => one.loopId === loopId);
    const [entry] = (await transcript?.readEntries(session, branch, position, position + 1)) ?? [];
    if (transcript === undefined || loop === undefined || entry?.message.role !== "assistant") return result;
    const output = await readAnswerOutput(transcript, loop.definitionHash, entry.message);
    return { ...result, loopId, position, ...output };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

async function readAnswerOutput(
  transcript: Transcript,
  definitionHash: string,
  answer: AssistantMessage,
): Promise<Pick<RunResult, "text" | "json" | "repairs"> | undefined> {
  const output = (await transcript.readDefinition(definitionHash))?.output;
  if (output !== undefined && output.type !== "text") {
    const found = readOutput(answer, output, matchesSchema);
    if (found.type === "found") {
      const json = JSON.stringify(found.value);
      const text = truncateForPreview(json, INLINE_BYTES);
      const repairs = found.repairs.length === 0 ? {} : { repairs: found.repairs };
      return { text, json: text === json ? "complete" : "truncated", ...repairs };
    }
  }
  const fullText = getMessageText(answer);
  return fullText === "" ? undefined : { text: truncateForPreview(fullText, INLINE_BYTES) };
}
