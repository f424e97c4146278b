import { isObject } from "../../platform/text/json.ts";
import { type ApprovalRequest, describeCall, formatArgumentsJson } from "./approval-view.ts";

// The dialog for approvals at a terminal: a pure state machine that maps lines and Ctrl-C to answers, without terminal I/O.
//
// Invariants
//   I1. The dialog asks one question at a time, in the order of the calls. It repeats an answered or postponed question
//       only on request.
//   I2. Only a letter or word that stands for an answer answers a call; other text that the user typed never does.

export type ApprovalDialog = {
  /** All waiting calls, as the run reports them. */
  readonly pending: readonly ApprovalRequest[];
  /** Keys of calls that were answered here; the run may not have reported the answers yet. */
  readonly answered: readonly string[];
  /** Keys of calls that the user postponed. */
  readonly postponed: readonly string[];
  readonly current: OpenQuestion | undefined;
};

type OpenQuestion = {
  readonly call: ApprovalRequest;
  /** The last typed version of the arguments while the user edits them. */
  readonly editedText: string | undefined;
};

export type DialogEvent =
  | { readonly type: "waiting"; readonly calls: readonly ApprovalRequest[] }
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt" }
  /** The user asks for the postponed questions. */
  | { readonly type: "again" }
  /** The run did not accept the answer. */
  | { readonly type: "not-taken"; readonly call: ApprovalRequest };

export type DialogAnswer =
  | {
      readonly type: "approve";
      readonly always?: true;
      readonly arguments?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "deny"; readonly reason?: string };

export type DialogAction =
  | { readonly type: "ask"; readonly call: ApprovalRequest; readonly whole: boolean }
  | { readonly type: "answer"; readonly call: ApprovalRequest; readonly answer: DialogAnswer }
  | { readonly type: "left"; readonly calls: readonly ApprovalRequest[] }
  | { readonly type: "tell"; readonly text: string };

export type DialogStep = { readonly dialog: ApprovalDialog; readonly actions: readonly DialogAction[] };

export const EMPTY_DIALOG: ApprovalDialog = { pending: [], answered: [], postponed: [], current: undefined };

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

/** What an open question asks for: an answer, or the arguments in JSON. */
export type DialogPrompt = {
  readonly asks: "answer" | "arguments";
  /** What precedes the line that the user types. */
  readonly prompt: string;
  readonly typed: string;
};

/** Returns the prompt and the typed text while a question is open. */
export function getPrompt({ current }: ApprovalDialog): DialogPrompt | undefined {
  if (current === undefined) return undefined;
  return current.editedText === undefined
    ? { asks: "answer", prompt: QUESTION_PROMPT, typed: "" }
    : { asks: "arguments", prompt: ARGUMENTS_PROMPT, typed: current.editedText };
}

export function stepDialog(questions: ApprovalDialog, event: DialogEvent): DialogStep {
  switch (event.type) {
    case "waiting":
      return updatePending(questions, event.calls);
    case "again":
      return questions.current === undefined
        ? askNext({ ...questions, postponed: [] })
        : keepDialog(questions);
    case "not-taken":
      return questions.current === undefined
        ? askNext(reopenCall(questions, event.call))
        : keepDialog(reopenCall(questions, event.call));
    case "interrupt":
      return questions.current === undefined
        ? keepDialog(questions)
        : postponeOpen(questions, questions.current);
    case "line":
      return questions.current === undefined
        ? keepDialog(questions)
        : handleLine(questions, questions.current, event.text.trim());
  }
}

function updatePending(questions: ApprovalDialog, calls: readonly ApprovalRequest[]): DialogStep {
  const keys = new Set(calls.map(getCallKey));
  const remaining = {
    ...questions,
    pending: calls,
    answered: questions.answered.filter((key) => keys.has(key)),
    postponed: questions.postponed.filter((key) => keys.has(key)),
  };
  const { current } = questions;
  if (current === undefined) return askNext(remaining);
  if (keys.has(getCallKey(current.call))) return keepDialog(remaining);
  const notice = `No longer waiting: ${describeCall(current.call)} (answered elsewhere, or timed out).`;
  const next = askNext({ ...remaining, current: undefined });
  return { ...next, actions: [{ type: "tell", text: notice }, ...next.actions] };
}

function postponeOpen(questions: ApprovalDialog, current: OpenQuestion): DialogStep {
  if (current.editedText !== undefined) return ask(questions, current.call);
  const calls = listOpen(questions);
  return {
    dialog: {
      ...questions,
      current: undefined,
      postponed: [...questions.postponed, ...calls.map(getCallKey)],
    },
    actions: [{ type: "left", calls }],
  };
}

function handleLine(questions: ApprovalDialog, current: OpenQuestion, text: string): DialogStep {
  if (current.editedText !== undefined) return finishEdit(questions, current.call, text);
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
      return answerCall(questions, current.call, reason === "" ? { type: "deny" } : { type: "deny", reason });
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
  return keepDialog({ ...questions, current: { call, editedText: text } });
}

function finishEdit(questions: ApprovalDialog, call: ApprovalRequest, text: string): DialogStep {
  if (text === "") return ask(questions, call);
  const parsed = parseArguments(text);
  if (parsed.ok) return answerCall(questions, call, { type: "approve", arguments: parsed.value });
  return reportText(
    { ...questions, current: { call, editedText: text } },
    `${parsed.said} (an empty line cancels the edit).`,
  );
}

function parseArguments(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { ok: true as const, value };
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
    current: undefined,
    answered: [...questions.answered, getCallKey(call)],
  });
  return { ...next, actions: [{ type: "answer", call, answer: dialogAnswer }, ...next.actions] };
}

function askNext(questions: ApprovalDialog): DialogStep {
  const [call] = listOpen(questions);
  return call === undefined ? keepDialog({ ...questions, current: undefined }) : ask(questions, call);
}

function ask(questions: ApprovalDialog, call: ApprovalRequest, whole = false): DialogStep {
  return {
    dialog: { ...questions, current: { call, editedText: undefined } },
    actions: [{ type: "ask", call, whole }],
  };
}

/** Returns the waiting calls that are neither answered nor postponed. */
function listOpen({ pending, answered, postponed }: ApprovalDialog): readonly ApprovalRequest[] {
  return pending.filter(
    (call) => !answered.includes(getCallKey(call)) && !postponed.includes(getCallKey(call)),
  );
}

function reopenCall(questions: ApprovalDialog, call: ApprovalRequest): ApprovalDialog {
  return { ...questions, answered: questions.answered.filter((key) => key !== getCallKey(call)) };
}

function reportUnclear(questions: ApprovalDialog): DialogStep {
  return reportText(questions, `Not an answer. ${QUESTION_KEYS}`);
}

function reportText(questions: ApprovalDialog, text: string): DialogStep {
  return { dialog: questions, actions: [{ type: "tell", text }] };
}

function keepDialog(questions: ApprovalDialog): DialogStep {
  return { dialog: questions, actions: [] };
}
