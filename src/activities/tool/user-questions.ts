import type { QuestionRef } from "../../core/machine/state/digest.ts";
import type { Mask } from "../../models/secret-masks.ts";
import { formatCanonicalJson } from "../../platform/text/canonical-json.ts";
import type { QuestionRecord } from "../../schema/loop-event.ts";
import type { AskUser, UserAnswer, UserQuestion, UserValues } from "../../schema/user-question.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

// A tool asks the user. The execution ends with the question, and the call is retried with the answer: no process waits
// for a user.

/** The most questions of one call. A tool that asks for ever is terminated. */
const MAX_QUESTIONS = 8;
/** The size limit of one question as JSON: message, schema and address. */
const MAX_QUESTION_BYTES = 64 * 1024;

type AnsweredQuestion = { readonly question: UserQuestion; readonly answer: UserAnswer };
type QuestionStore = Pick<Transcript, "readText" | "putText" | "archive">;

/** What one execution has asked: a question for the user, or a question that is not allowed. */
type QuestionAttempt = { readonly question: UserQuestion } | { readonly rejected: string };

export type QuestionSession = {
  readonly ask: AskUser;
  /** The question for which this execution has to end. */
  readonly getQuestion: () => QuestionAttempt | undefined;
};

/**
 * Answers from what users have answered before, each answer once. Ends the execution with the first question that has
 * no answer.
 */
export function createQuestionSession(
  known: readonly AnsweredQuestion[],
  mask: Mask,
  endExecution: () => void,
): QuestionSession {
  const left = [...known];
  let asked: QuestionAttempt | undefined;
  return {
    getQuestion: () => asked,
    ask: async (request) => {
      const question = { ...request, message: mask(request.message) };
      const at = left.findIndex((one) => isSameQuestion(one.question, question));
      const [found] = at < 0 || asked !== undefined ? [] : left.splice(at, 1);
      if (found !== undefined) return found.answer;
      asked ??= checkQuestion(question, known.length);
      endExecution();
      throw new Error(
        "No user has answered yet: this execution ends here, and the call is retried with the answer",
      );
    },
  };
}

function checkQuestion(question: UserQuestion, before: number): QuestionAttempt {
  if (before >= MAX_QUESTIONS) {
    return {
      rejected: `The tool was terminated: it asked the user more than ${MAX_QUESTIONS} questions in one call`,
    };
  }
  const bytes = Buffer.byteLength(JSON.stringify(question), "utf8");
  if (bytes > MAX_QUESTION_BYTES) {
    const most = `at most ${MAX_QUESTION_BYTES} are allowed`;
    return { rejected: `The tool was terminated: its question to the user has ${bytes} bytes; ${most}` };
  }
  return { question };
}

/** Reads the questions of earlier executions and their answers. A question whose text is missing is asked again. */
export async function readAnswers(
  questions: readonly QuestionRecord[],
  transcript: Pick<Transcript, "readText">,
): Promise<readonly AnsweredQuestion[]> {
  const known = questions.map(async ({ question, answer, values }): Promise<readonly AnsweredQuestion[]> => {
    const [asked, given] = [
      await transcript.readText(question),
      values && (await transcript.readText(values)),
    ];
    if (asked === undefined || (values !== undefined && given === undefined)) return [];
    return [{ question: JSON.parse(asked) as UserQuestion, answer: toUserAnswer(answer, given) }];
  });
  return (await Promise.all(known)).flat();
}

function toUserAnswer(answer: QuestionRecord["answer"], values: string | undefined): UserAnswer {
  if (answer !== "accept") return { type: answer === "decline" ? answer : "cancel" };
  return { type: "accept", ...(values === undefined ? {} : { values: JSON.parse(values) as UserValues }) };
}

/** Stores a question for as long as its session is stored. */
export async function storeQuestion(
  session: string,
  question: UserQuestion,
  transcript: QuestionStore,
  atMs: number,
): Promise<QuestionRef> {
  const ref = await transcript.putText(JSON.stringify(question), atMs);
  await transcript.archive.addTextOwner(session, ref);
  return ref;
}

/** Ignores the order of fields, because servers without a fixed order send them in a different order each time. */
function isSameQuestion(one: UserQuestion, other: UserQuestion): boolean {
  return formatCanonicalJson(one) === formatCanonicalJson(other);
}
