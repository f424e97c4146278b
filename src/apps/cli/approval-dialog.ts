import { type ApprovalRequest, describeCall, formatArgumentsJson } from "./approval-view.ts";

// The dialog for approvals at a terminal: a pure state machine that maps lines and Ctrl-C to answers, without terminal I/O.
//
// Invariants
//   I1. The dialog asks one question at a time, in the order of the calls. It repeats an answered or postponed question
//       only on request.
//   I2. Only a letter or word that stands for an answer answers a call; other text that the user typed never does.

export type ApprovalDialog = {
  /** All waiting calls, as the run reports them. */
  readonly waiting: readonly ApprovalRequest[];
  /** Keys of calls that were answered here; the run may not have reported the answers yet. */
  readonly answered: readonly string[];
  /** Keys of calls that the user postponed. */
  readonly left: readonly string[];
  readonly asked: OpenQuestion | undefined;
};

type OpenQuestion = {
  readonly call: ApprovalRequest;
  /** The last typed version of the arguments while the user edits them. */
  readonly editing: string | undefined;
};

export type DialogEvent =
  | { readonly type: "waiting"; readonly calls: readonly ApprovalRequest[] }
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt" }
  /** The user asks for the postponed questions. */
  | { readonly type: "again" }
  /** The run did not accept the answer. */
  | { readonly type: "not-taken"; readonly call: ApprovalRequest };

type DialogAnswer =
  | {
      readonly type: "approve";
      readonly always?: true;
      readonly arguments?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "refuse"; readonly reason?: string };

export type DialogAction =
  | { readonly type: "ask"; readonly call: ApprovalRequest; readonly whole: boolean }
  | { readonly type: "answer"; readonly call: ApprovalRequest; readonly answer: DialogAnswer }
  | { readonly type: "left"; readonly calls: readonly ApprovalRequest[] }
  | { readonly type: "tell"; readonly text: string };

export type DialogStep = { readonly questions: ApprovalDialog; readonly actions: readonly DialogAction[] };

export const EMPTY_DIALOG: ApprovalDialog = { waiting: [], answered: [], left: [], asked: undefined };

const QUESTION_KEYS =
  "y: yes · n [REASON]: no · a: yes, and always as displayed · e: edit the arguments · s: display all · Ctrl-C: later";
const QUESTION_PROMPT = "approve? y/n/a/e > ";
const ARGUMENTS_PROMPT = "arguments > ";

/** Longer arguments cannot be edited on one line of a terminal. */
const MAX_EDIT_CHARS = 4_000;

/** Returns a key that is unique to a call: ids of calls can repeat in later turns and in other sessions. */
export function getCallKey({
  session,
  toolCallId,
  sinceMs,
}: Pick<ApprovalRequest, "session" | "toolCallId" | "sinceMs">): string {
  return `${session}/${toolCallId}@${sinceMs}`;
}

/** Returns the prompt and the typed text while a question is open. */
export function getPrompt({
  asked,
}: ApprovalDialog): { readonly prompt: string; readonly typed: string } | undefined {
  if (asked === undefined) return undefined;
  return asked.editing === undefined
    ? { prompt: QUESTION_PROMPT, typed: "" }
    : { prompt: ARGUMENTS_PROMPT, typed: asked.editing };
}

export function stepDialog(questions: ApprovalDialog, event: DialogEvent): DialogStep {
  switch (event.type) {
    case "waiting":
      return updatePending(questions, event.calls);
    case "again":
      return questions.asked === undefined ? askNext({ ...questions, left: [] }) : keepDialog(questions);
    case "not-taken":
      return questions.asked === undefined
        ? askNext(reopenCall(questions, event.call))
        : keepDialog(reopenCall(questions, event.call));
    case "interrupt":
      return questions.asked === undefined ? keepDialog(questions) : postponeOpen(questions, questions.asked);
    case "line":
      return questions.asked === undefined
        ? keepDialog(questions)
        : handleLine(questions, questions.asked, event.text.trim());
  }
}

function updatePending(questions: ApprovalDialog, calls: readonly ApprovalRequest[]): DialogStep {
  const keys = new Set(calls.map(getCallKey));
  const remaining = {
    ...questions,
    waiting: calls,
    answered: questions.answered.filter((key) => keys.has(key)),
    left: questions.left.filter((key) => keys.has(key)),
  };
  const { asked } = questions;
  if (asked === undefined) return askNext(remaining);
  if (keys.has(getCallKey(asked.call))) return keepDialog(remaining);
  const notice = `No longer waiting: ${describeCall(asked.call)} (answered elsewhere, or timed out).`;
  const next = askNext({ ...remaining, asked: undefined });
  return { ...next, actions: [{ type: "tell", text: notice }, ...next.actions] };
}

function postponeOpen(questions: ApprovalDialog, current: OpenQuestion): DialogStep {
  if (current.editing !== undefined) return ask(questions, current.call);
  const calls = listOpen(questions);
  return {
    questions: { ...questions, asked: undefined, left: [...questions.left, ...calls.map(getCallKey)] },
    actions: [{ type: "left", calls }],
  };
}

function handleLine(questions: ApprovalDialog, current: OpenQuestion, text: string): DialogStep {
  if (current.editing !== undefined) return finishEdit(questions, current.call, text);
  const [word = "", ...rest] = text.split(/\s+/);
  const reason = text.slice(word.length).trim();
  const alone = rest.length === 0;
  switch (word.toLowerCase()) {
    case "y":
    case "yes":
      return alone ? answerCall(questions, current.call, { type: "approve" }) : reportUnclear(questions);
    case "a":
    case "always":
      return alone
        ? answerCall(questions, current.call, { type: "approve", always: true })
        : reportUnclear(questions);
    case "n":
    case "no":
      return answerCall(
        questions,
        current.call,
        reason === "" ? { type: "refuse" } : { type: "refuse", reason },
      );
    case "e":
    case "edit":
      return alone ? startEdit(questions, current.call) : reportUnclear(questions);
    case "s":
    case "show":
      return alone ? ask(questions, current.call, true) : reportUnclear(questions);
    case "":
      return keepDialog(questions);
    default:
      return reportUnclear(questions);
  }
}

function startEdit(questions: ApprovalDialog, call: ApprovalRequest): DialogStep {
  const text = formatArgumentsJson(call);
  if (text === undefined || text.length > MAX_EDIT_CHARS) {
    const reason =
      text === undefined
        ? "The arguments are not available here as a JSON object"
        : `The arguments have ${text.length} characters of JSON`;
    return reportText(
      questions,
      `${reason}; answer with \`holdfast approve --arguments @FILE\` instead (Ctrl-C displays the command).`,
    );
  }
  return keepDialog({ ...questions, asked: { call, editing: text } });
}

function finishEdit(questions: ApprovalDialog, call: ApprovalRequest, text: string): DialogStep {
  if (text === "") return ask(questions, call);
  const parsed = parseArguments(text);
  if (parsed.ok) return answerCall(questions, call, { type: "approve", arguments: parsed.value });
  return reportText(
    { ...questions, asked: { call, editing: text } },
    `${parsed.said} (an empty line cancels the edit).`,
  );
}

function parseArguments(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { ok: true as const, value: value as Readonly<Record<string, unknown>> };
    return { ok: false as const, said: "The arguments must be one JSON object, in braces" };
  } catch (error) {
    return { ok: false as const, said: `This is not JSON: ${(error as Error).message}` };
  }
}

function answerCall(
  questions: ApprovalDialog,
  call: ApprovalRequest,
  dialogAnswer: DialogAnswer,
): DialogStep {
  const next = askNext({
    ...questions,
    asked: undefined,
    answered: [...questions.answered, getCallKey(call)],
  });
  return { ...next, actions: [{ type: "answer", call, answer: dialogAnswer }, ...next.actions] };
}

function askNext(questions: ApprovalDialog): DialogStep {
  const [call] = listOpen(questions);
  return call === undefined ? keepDialog({ ...questions, asked: undefined }) : ask(questions, call);
}

function ask(questions: ApprovalDialog, call: ApprovalRequest, whole = false): DialogStep {
  return {
    questions: { ...questions, asked: { call, editing: undefined } },
    actions: [{ type: "ask", call, whole }],
  };
}

/** Returns the waiting calls that are neither answered nor postponed. */
function listOpen({ waiting, answered, left }: ApprovalDialog): readonly ApprovalRequest[] {
  return waiting.filter((call) => !answered.includes(getCallKey(call)) && !left.includes(getCallKey(call)));
}

function reopenCall(questions: ApprovalDialog, call: ApprovalRequest): ApprovalDialog {
  return { ...questions, answered: questions.answered.filter((key) => key !== getCallKey(call)) };
}

function reportUnclear(questions: ApprovalDialog): DialogStep {
  return reportText(questions, `Not an answer. ${QUESTION_KEYS}`);
}

function reportText(questions: ApprovalDialog, text: string): DialogStep {
  return { questions, actions: [{ type: "tell", text }] };
}

function keepDialog(questions: ApprovalDialog): DialogStep {
  return { questions, actions: [] };
}
