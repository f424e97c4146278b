import type { QuestionRef } from "../../core/machine/state/digest.ts";
import type { Mask } from "../../models/mask.ts";
import type { AskPerson, PersonAnswer, PersonQuestion, PersonValues } from "../../schema/person.ts";
import type { PersonAsked } from "../../schema/record.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

// A tool asks a person. The execution ends with the question, and the call is made again with the answer: no process
// waits for a person.

/** Questions of one call. A tool that asks for ever is ended. */
const MAX_QUESTIONS = 8;
/** Of one question as JSON: message, schema and address. */
const MAX_QUESTION_BYTES = 64 * 1024;

type Known = { readonly question: PersonQuestion; readonly answer: PersonAnswer };
type Store = Pick<Transcript, "text" | "putText" | "archive">;

/** What one execution has asked: a question for a person, or more than may be asked. */
type Asked = { readonly question: PersonQuestion } | { readonly refused: string };

export type Asking = {
  readonly ask: AskPerson;
  /** What this execution has to end for. */
  readonly asked: () => Asked | undefined;
};

/**
 * Answers from what people have said before, each answer once; ends the execution with the first question that nobody
 * has answered.
 */
export function askingPeople(known: readonly Known[], mask: Mask, leave: () => void): Asking {
  const left = [...known];
  let asked: Asked | undefined;
  return {
    asked: () => asked,
    ask: async (said) => {
      const question = { ...said, message: mask(said.message) };
      const at = left.findIndex((one) => sameAs(one.question, question));
      const [found] = at < 0 || asked !== undefined ? [] : left.splice(at, 1);
      if (found !== undefined) return found.answer;
      asked ??= judged(question, known.length);
      leave();
      throw new Error("Nobody has answered yet: the call ends here, and is made again with the answer");
    },
  };
}

function judged(question: PersonQuestion, before: number): Asked {
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
export async function answersTo(
  questions: readonly PersonAsked[],
  transcript: Pick<Transcript, "text">,
): Promise<readonly Known[]> {
  const known = questions.map(async ({ question, answer, values }): Promise<readonly Known[]> => {
    const [asked, given] = [await transcript.text(question), values && (await transcript.text(values))];
    if (asked === undefined || (values !== undefined && given === undefined)) return [];
    return [{ question: JSON.parse(asked) as PersonQuestion, answer: answerOf(answer, given) }];
  });
  return (await Promise.all(known)).flat();
}

function answerOf(answer: PersonAsked["answer"], values: string | undefined): PersonAnswer {
  if (answer !== "accept") return { type: answer === "decline" ? answer : "cancel" };
  return { type: "accept", ...(values === undefined ? {} : { values: JSON.parse(values) as PersonValues }) };
}

/** Keeps a question for as long as its session is kept. */
export async function keepQuestion(
  session: string,
  question: PersonQuestion,
  transcript: Store,
  atMs: number,
): Promise<QuestionRef> {
  const ref = await transcript.putText(JSON.stringify(question), atMs);
  await transcript.archive.nameText(session, ref);
  return ref;
}

function sameAs(one: PersonQuestion, other: PersonQuestion): boolean {
  return canonical(one) === canonical(other);
}

/** Fields in the order of their names: servers that keep none send them in another one each time. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
