import type { PendingApproval } from "../../core/machine/approvals.ts";
import type { UserQuestion, UserValues } from "../../schema/user-question.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import { approveUpdate } from "../../workflows/messages.ts";
import {
  createNoCallWhileIdleError,
  createNothingPendingError,
  createNoWorkerError,
} from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { type AnswerResult, toSignature } from "./approve-call.ts";
import { findAnswerTarget } from "./find-answer-target.ts";
import { checkFormValues } from "./form-values.ts";
import { askStatus, describeRun, isOpen } from "./open-runs.ts";
import { readQuestion } from "./read-question.ts";
import { sendRunUpdate } from "./send-run-update.ts";

export type AnswerOptions = {
  /** `accept` unless said: with the values, or what is asked for was done at the address. */
  readonly answer?: "accept" | "decline" | "cancel";
  /** Of the form's fields, by name; what it presets need not be given. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Who answers, for the record; the name of this process's user unless said. */
  readonly by?: string;
};

const MAX_VALUES_BYTES = 256 * 1024;

/**
 * Answers what the tool of a waiting call asks. Values are checked against the form, and stored in the transcript: the run
 * is told their hash.
 */
export async function answerCall(
  link: ClientLink,
  session: string,
  toolCallId: string | undefined,
  { answer = "accept", values = {}, by }: AnswerOptions = {},
): Promise<AnswerResult> {
  const target = await findAnswerTarget(link, session, toolCallId);
  const { waiting, record } = await findAskingCall(link, target.session, target.toolCallId);
  const { question } = waiting;
  const ref = answer === "accept" ? await storeValues(link, record, waiting, values) : undefined;
  const reply = { toolCallId: waiting.toolCallId, question, answer, ...toSignature(by) };
  const givenValues = ref === undefined ? reply : { ...reply, values: ref };
  const accepted = await sendRunUpdate(
    link,
    target.session,
    approveUpdate,
    givenValues,
    createNoCallWhileIdleError,
  );
  return { ...accepted, session: target.session, waiting: target.others ?? accepted.waiting };
}

type AskingCall = PendingApproval & { readonly question: string };

/** The call whose tool asks; `record` is the session that its words are kept with. */
async function findAskingCall(
  link: ClientLink,
  session: string,
  toolCallId: string | undefined,
): Promise<{ readonly waiting: AskingCall; readonly record: string }> {
  const status = await askStatus(link, session);
  if (status === undefined) {
    const description = await describeRun(link, session);
    if (description !== undefined && isOpen(description)) throw createNoWorkerError(link, session);
    throw createNoCallWhileIdleError(session, undefined);
  }
  const [found, other] = status.approvals.filter(
    (candidate): candidate is AskingCall =>
      candidate.question !== undefined && (toolCallId === undefined || candidate.toolCallId === toolCallId),
  );
  if (found !== undefined && other === undefined) return { waiting: found, record: status.session };
  if (found !== undefined) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${session} did not take the answer: the tools of several calls ask; say which with its id: ` +
        `${found.toolCallId}, ${other?.toolCallId}.`,
      { session },
    );
  }
  const callWithoutQuestion = status.approvals.find(
    (candidate) => toolCallId === undefined || candidate.toolCallId === toolCallId,
  );
  if (callWithoutQuestion === undefined)
    throw createNothingPendingError(session, "no tool of it asks a person");
  throw new HoldfastError(
    "input-invalid",
    `Session ${session} did not take the answer: ${callWithoutQuestion.toolCallId} (${callWithoutQuestion.tool}) asks for no more than a yes. ` +
      `Say \`holdfast approve ${session} ${callWithoutQuestion.toolCallId}\`, or deny it.`,
    { session },
  );
}

/** Nothing for a question that wants no values. */
async function storeValues(
  link: ClientLink,
  session: string,
  { question, toolCallId, tool }: AskingCall,
  input: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const transcript = await link.storage.openTranscript();
  const formQuestion = await readQuestion(transcript, question);
  if (formQuestion === undefined) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${session} did not take the answer: what ${tool} asks is not in the transcript of this machine. ` +
        "Answer where its transcript lies.",
      { session },
    );
  }
  if (formQuestion.type === "url") return undefined;
  const values = checkValues(session, toolCallId, formQuestion, input);
  const text = JSON.stringify(values);
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > MAX_VALUES_BYTES) {
    throw new HoldfastError(
      "input-too-large",
      `The values of the answer have ${bytes} bytes as JSON; at most ${MAX_VALUES_BYTES} are taken.`,
      { session, bytes, maxBytes: MAX_VALUES_BYTES },
    );
  }
  try {
    const ref = await transcript.putText(text, Date.now());
    await transcript.archive.addTextOwner(session, ref);
    return ref;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new HoldfastError("store-failed", `The answer could not be stored: ${error.message}`, {
      cause: error,
    });
  }
}

function checkValues(
  session: string,
  toolCallId: string,
  { schema }: Extract<UserQuestion, { type: "form" }>,
  input: Readonly<Record<string, unknown>>,
): UserValues {
  const fitted = checkFormValues(schema, input);
  if (fitted.ok) return fitted.values;
  const { problems } = fitted;
  throw new HoldfastError(
    "input-invalid",
    `The answer to ${toolCallId} does not fit what is asked: ${problems.join("; ")}. Nothing was sent.`,
    { session, problems },
  );
}
