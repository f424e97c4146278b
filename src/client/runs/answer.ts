import type { PendingApproval } from "../../core/machine/approvals.ts";
import type { PersonQuestion, PersonValues } from "../../schema/person.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import { approveUpdate } from "../../workflows/messages.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { noCallAtRest, nothingWaits, noWorker } from "../failures.ts";
import { targetOf } from "./answer-target.ts";
import { type Answered, signed } from "./approve.ts";
import { fittedValues } from "./form-values.ts";
import { questionIn } from "./question-in.ts";
import { askStatus, describeRun, isOpen } from "./tree.ts";
import { updateRun } from "./update-run.ts";

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
  link: Link,
  session: string,
  toolCallId: string | undefined,
  { answer = "accept", values = {}, by }: AnswerOptions = {},
): Promise<Answered> {
  const target = await targetOf(link, session, toolCallId);
  const { waiting, record } = await asking(link, target.session, target.toolCallId);
  const { question } = waiting;
  const ref = answer === "accept" ? await keptValues(link, record, waiting, values) : undefined;
  const words = { toolCallId: waiting.toolCallId, question, answer, ...signed(by) };
  const given = ref === undefined ? words : { ...words, values: ref };
  const taken = await updateRun(link, target.session, approveUpdate, given, noCallAtRest);
  return { ...taken, session: target.session, waiting: target.others ?? taken.waiting };
}

type Asking = PendingApproval & { readonly question: string };

/** The call whose tool asks; `record` is the session that its words are kept with. */
async function asking(
  link: Link,
  session: string,
  toolCallId: string | undefined,
): Promise<{ readonly waiting: Asking; readonly record: string }> {
  const status = await askStatus(link, session);
  if (status === undefined) {
    const description = await describeRun(link, session);
    if (description !== undefined && isOpen(description)) throw noWorker(link, session);
    throw noCallAtRest(session, undefined);
  }
  const [found, other] = status.approvals.filter(
    (one): one is Asking =>
      one.question !== undefined && (toolCallId === undefined || one.toolCallId === toolCallId),
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
  const plain = status.approvals.find((one) => toolCallId === undefined || one.toolCallId === toolCallId);
  if (plain === undefined) throw nothingWaits(session, "no tool of it asks a person");
  throw new HoldfastError(
    "input-invalid",
    `Session ${session} did not take the answer: ${plain.toolCallId} (${plain.tool}) asks for no more than a yes. ` +
      `Say \`holdfast approve ${session} ${plain.toolCallId}\`, or deny it.`,
    { session },
  );
}

/** Nothing for a question that wants no values. */
async function keptValues(
  link: Link,
  session: string,
  { question, toolCallId, tool }: Asking,
  given: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const transcript = await link.storage.transcript();
  const asked = await questionIn(transcript, question);
  if (asked === undefined) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${session} did not take the answer: what ${tool} asks is not in the transcript of this machine. ` +
        "Answer where its transcript lies.",
      { session },
    );
  }
  if (asked.type === "url") return undefined;
  const values = fitting(session, toolCallId, asked, given);
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
    await transcript.archive.nameText(session, ref);
    return ref;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new HoldfastError("store-failed", `The answer could not be stored: ${error.message}`, {
      cause: error,
    });
  }
}

function fitting(
  session: string,
  toolCallId: string,
  { schema }: Extract<PersonQuestion, { type: "form" }>,
  given: Readonly<Record<string, unknown>>,
): PersonValues {
  const fitted = fittedValues(schema, given);
  if (fitted.ok) return fitted.values;
  const { problems } = fitted;
  throw new HoldfastError(
    "input-invalid",
    `The answer to ${toolCallId} does not fit what is asked: ${problems.join("; ")}. Nothing was sent.`,
    { session, problems },
  );
}
