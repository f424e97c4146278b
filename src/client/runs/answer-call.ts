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

/** How a user answers the question of a tool. */
export type AnswerOptions = {
  /** `accept` by default: with the values, or after the request at the address was completed. */
  readonly answer?: "accept" | "decline" | "cancel";
  /** The form's fields by name. You may omit fields that the form presets. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Who answers, for the record; by default the name of this process's user. */
  readonly by?: string;
};

const MAX_VALUES_BYTES = 256 * 1024;

/**
 * Answers the question of a pending call's tool. Checks the values against the form and stores them in the transcript: the
 * run receives their hash.
 */
export async function answerCall(
  link: ClientLink,
  session: string,
  toolCallId: string | undefined,
  { answer = "accept", values = {}, by }: AnswerOptions = {},
): Promise<AnswerResult> {
  const target = await findAnswerTarget(link, session, toolCallId);
  const { waiting, record } = await findAskingCall(link, target.session, target.toolCallId);
  const { questionRef } = waiting;
  const ref = answer === "accept" ? await storeValues(link, record, waiting, values) : undefined;
  const reply = { toolCallId: waiting.toolCallId, question: questionRef, answer, ...toSignature(by) };
  const message = ref === undefined ? reply : { ...reply, values: ref };
  const accepted = await sendRunUpdate(
    link,
    target.session,
    approveUpdate,
    message,
    createNoCallWhileIdleError,
  );
  return { ...accepted, session: target.session, waiting: target.others ?? accepted.waiting };
}

type AskingCall = PendingApproval & { readonly questionRef: string };

/** Finds the call whose tool asks; `record` is the session whose transcript holds its texts. */
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
      candidate.questionRef !== undefined &&
      (toolCallId === undefined || candidate.toolCallId === toolCallId),
  );
  if (found !== undefined && other === undefined) return { waiting: found, record: status.session };
  if (found !== undefined) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${session} rejected the answer: the tools of several calls ask a question. Specify the id of one call: ` +
        `${found.toolCallId}, ${other?.toolCallId}.`,
      { session },
    );
  }
  const callWithoutQuestion = status.approvals.find(
    (candidate) => toolCallId === undefined || candidate.toolCallId === toolCallId,
  );
  if (callWithoutQuestion === undefined)
    throw createNothingPendingError(session, "no tool of the session asks a question");
  throw new HoldfastError(
    "input-invalid",
    `Session ${session} rejected the answer: ${callWithoutQuestion.toolCallId} (${callWithoutQuestion.tool}) ` +
      `only needs an approval. Run \`holdfast approve ${session} ${callWithoutQuestion.toolCallId}\`, or deny it.`,
    { session },
  );
}

/** Stores the values. Returns nothing for a question that needs none. */
async function storeValues(
  link: ClientLink,
  session: string,
  { questionRef, toolCallId, tool }: AskingCall,
  input: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const transcript = await link.storage.openTranscript();
  const formQuestion = await readQuestion(transcript, questionRef);
  if (formQuestion === undefined) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${session} rejected the answer: the question of ${tool} is not in the transcript of this machine. ` +
        "Answer on the machine that has its transcript.",
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
      `The values of the answer have ${bytes} bytes as JSON; the maximum is ${MAX_VALUES_BYTES}.`,
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
    `The answer to ${toolCallId} does not match the form: ${problems.join("; ")}. Nothing was sent.`,
    { session, problems },
  );
}
