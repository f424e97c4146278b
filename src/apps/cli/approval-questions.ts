import { argumentsLine, type Question, waitsFor } from "./approval-view.ts";

// Questions at a terminal: what is asked, and what a line or Ctrl-C makes of it. Nothing of the terminal is known here.
//
// Invariants
//   I1. One question is asked at a time, in the order of the calls; none again that was answered or left, unless it is
//       asked for.
//   I2. A call is answered by a letter or word that stands for an answer, and by nothing else that a person may have
//       been typing.

export type Questions = {
  /** All calls that wait, as the run says. */
  readonly waiting: readonly Question[];
  /** Answered here; the run may not have said so yet. */
  readonly answered: readonly string[];
  /** Left open by the person. */
  readonly left: readonly string[];
  readonly asked: Asked | undefined;
};

type Asked = {
  readonly call: Question;
  /** The arguments are being edited; what was typed of them last. */
  readonly editing: string | undefined;
};

export type QuestionEvent =
  | { readonly type: "waiting"; readonly calls: readonly Question[] }
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt" }
  /** What was left is asked again. */
  | { readonly type: "again" }
  /** The run did not take the answer. */
  | { readonly type: "not-taken"; readonly call: Question };

type Answer =
  | {
      readonly type: "approve";
      readonly always?: true;
      readonly arguments?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "refuse"; readonly reason?: string };

export type QuestionAction =
  | { readonly type: "ask"; readonly call: Question; readonly whole: boolean }
  | { readonly type: "answer"; readonly call: Question; readonly answer: Answer }
  | { readonly type: "left"; readonly calls: readonly Question[] }
  | { readonly type: "tell"; readonly text: string };

export type QuestionStep = { readonly questions: Questions; readonly actions: readonly QuestionAction[] };

export const NO_QUESTIONS: Questions = { waiting: [], answered: [], left: [], asked: undefined };

const QUESTION_KEYS =
  "y: yes · n [REASON]: no · a: yes, and always as shown · e: edit the arguments · s: show all of it · Ctrl-C: later";
const QUESTION_PROMPT = "approve? y/n/a/e > ";
const ARGUMENTS_PROMPT = "arguments > ";

/** Longer ones are no work for one line of a terminal. */
const MAX_EDIT_CHARS = 4_000;

/** Ids of calls come again in later turns, and in other sessions. */
export function keyOf({
  session,
  toolCallId,
  sinceMs,
}: Pick<Question, "session" | "toolCallId" | "sinceMs">): string {
  return `${session}/${toolCallId}@${sinceMs}`;
}

/** What stands before the line, and on it, while a question is asked. */
export function promptOf({
  asked,
}: Questions): { readonly prompt: string; readonly typed: string } | undefined {
  if (asked === undefined) return undefined;
  return asked.editing === undefined
    ? { prompt: QUESTION_PROMPT, typed: "" }
    : { prompt: ARGUMENTS_PROMPT, typed: asked.editing };
}

export function questionStep(questions: Questions, event: QuestionEvent): QuestionStep {
  switch (event.type) {
    case "waiting":
      return waiting(questions, event.calls);
    case "again":
      return questions.asked === undefined ? askNext({ ...questions, left: [] }) : still(questions);
    case "not-taken":
      return questions.asked === undefined
        ? askNext(forgotten(questions, event.call))
        : still(forgotten(questions, event.call));
    case "interrupt":
      return questions.asked === undefined ? still(questions) : interrupted(questions, questions.asked);
    case "line":
      return questions.asked === undefined
        ? still(questions)
        : line(questions, questions.asked, event.text.trim());
  }
}

function waiting(questions: Questions, calls: readonly Question[]): QuestionStep {
  const keys = new Set(calls.map(keyOf));
  const kept = {
    ...questions,
    waiting: calls,
    answered: questions.answered.filter((key) => keys.has(key)),
    left: questions.left.filter((key) => keys.has(key)),
  };
  const { asked } = questions;
  if (asked === undefined) return askNext(kept);
  if (keys.has(keyOf(asked.call))) return still(kept);
  const gone = `No longer asked: ${waitsFor(asked.call)} (answered elsewhere, or its time ran out).`;
  const next = askNext({ ...kept, asked: undefined });
  return { ...next, actions: [{ type: "tell", text: gone }, ...next.actions] };
}

function interrupted(questions: Questions, asked: Asked): QuestionStep {
  if (asked.editing !== undefined) return ask(questions, asked.call);
  const calls = open(questions);
  return {
    questions: { ...questions, asked: undefined, left: [...questions.left, ...calls.map(keyOf)] },
    actions: [{ type: "left", calls }],
  };
}

function line(questions: Questions, asked: Asked, text: string): QuestionStep {
  if (asked.editing !== undefined) return edited(questions, asked.call, text);
  const [word = "", ...rest] = text.split(/\s+/);
  const reason = text.slice(word.length).trim();
  const alone = rest.length === 0;
  switch (word.toLowerCase()) {
    case "y":
    case "yes":
      return alone ? answer(questions, asked.call, { type: "approve" }) : unclear(questions);
    case "a":
    case "always":
      return alone ? answer(questions, asked.call, { type: "approve", always: true }) : unclear(questions);
    case "n":
    case "no":
      return answer(questions, asked.call, reason === "" ? { type: "refuse" } : { type: "refuse", reason });
    case "e":
    case "edit":
      return alone ? edit(questions, asked.call) : unclear(questions);
    case "s":
    case "show":
      return alone ? ask(questions, asked.call, true) : unclear(questions);
    case "":
      return still(questions);
    default:
      return unclear(questions);
  }
}

function edit(questions: Questions, call: Question): QuestionStep {
  const text = argumentsLine(call);
  if (text === undefined || text.length > MAX_EDIT_CHARS) {
    const why =
      text === undefined
        ? "They are not known here as an object"
        : `They have ${text.length} characters of JSON`;
    return tell(
      questions,
      `${why}; answer with \`holdfast approve --arguments @FILE\` instead (Ctrl-C tells how).`,
    );
  }
  return still({ ...questions, asked: { call, editing: text } });
}

function edited(questions: Questions, call: Question, text: string): QuestionStep {
  if (text === "") return ask(questions, call);
  const parsed = parsedObject(text);
  if (parsed.ok) return answer(questions, call, { type: "approve", arguments: parsed.value });
  return tell({ ...questions, asked: { call, editing: text } }, `${parsed.said} (an empty line goes back).`);
}

function parsedObject(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { ok: true as const, value: value as Readonly<Record<string, unknown>> };
    return { ok: false as const, said: "The arguments are one JSON object, in braces" };
  } catch (error) {
    return { ok: false as const, said: `This is not JSON: ${(error as Error).message}` };
  }
}

function answer(questions: Questions, call: Question, given: Answer): QuestionStep {
  const next = askNext({
    ...questions,
    asked: undefined,
    answered: [...questions.answered, keyOf(call)],
  });
  return { ...next, actions: [{ type: "answer", call, answer: given }, ...next.actions] };
}

function askNext(questions: Questions): QuestionStep {
  const [call] = open(questions);
  return call === undefined ? still({ ...questions, asked: undefined }) : ask(questions, call);
}

function ask(questions: Questions, call: Question, whole = false): QuestionStep {
  return {
    questions: { ...questions, asked: { call, editing: undefined } },
    actions: [{ type: "ask", call, whole }],
  };
}

/** What waits and was neither answered nor left. */
function open({ waiting, answered, left }: Questions): readonly Question[] {
  return waiting.filter((call) => !answered.includes(keyOf(call)) && !left.includes(keyOf(call)));
}

function forgotten(questions: Questions, call: Question): Questions {
  return { ...questions, answered: questions.answered.filter((key) => key !== keyOf(call)) };
}

function unclear(questions: Questions): QuestionStep {
  return tell(questions, `Not an answer. ${QUESTION_KEYS}`);
}

function tell(questions: Questions, text: string): QuestionStep {
  return { questions, actions: [{ type: "tell", text }] };
}

function still(questions: Questions): QuestionStep {
  return { questions, actions: [] };
}
