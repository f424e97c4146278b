import type { QuestionRef } from "../../core/machine/state/digest.ts";
import type { Mask } from "../../models/secret-masks.ts";
import type { QuestionRecord } from "../../schema/record.ts";
import type { AskUser, UserAnswer, UserQuestion, UserValues } from "../../schema/user-question.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

// A tool asks a person. The execution ends with the question, and the call is made again with the answer: no process
// waits for a person.

/** Questions of one call. A tool that asks for ever is ended. */
const MAX_QUESTIONS = 8;
/** Of one question as JSON: message, schema and address. */
const MAX_QUESTION_BYTES = 64 * 1024;

type AnsweredQuestion = { readonly question: UserQuestion; readonly answer: UserAnswer };
type QuestionStore = Pick<Transcript, "readText" | "putText" | "archive">;

/** What one execution has asked: a question for a person, or more than may be asked. */
type QuestionAttempt = { readonly question: UserQuestion } | { readonly refused: string };

export type QuestionSession = {
  readonly ask: AskUser;
  /** What this execution has to end for. */
  readonly getQuestion: () => QuestionAttempt | undefined;
};

/**
 * Answers from what people have said before, each answer once; ends the execution with the first question that nobody
 * has answered.
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
      throw new Error("Nobody has answered yet: the call ends here, and is made again with the answer");
    },
  };
}

function checkQuestion(question: UserQuestion, before: number): QuestionAttempt {
  if (before >= MAX_QUESTIONS) {
    return {
      refused: `The tool was ended: it asked a person more than ${MAX_QUESTIONS} questions in one call`,
    };
  }
  const bytes = Buffer.byteLength(JSON.stringify(question), "utf8");
  if (bytes > MAX_QUESTION_BYTES) {
    const most = `at most ${MAX_QUESTION_BYTES} are shown`;
    return { refused: `The tool was ended: it asked a person a question of ${bytes} bytes; ${most}` };
  }
  return { question };
}

/** What earlier executions have asked, and what was answered. A text that is gone is asked for again. */
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

/** Keeps a question for as long as its session is kept. */
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

function isSameQuestion(one: UserQuestion, other: UserQuestion): boolean {
  return canonicalise(one) === canonicalise(other);
}

/** Fields in the order of their names: servers that keep none send them in another one each time. */
function canonicalise(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
