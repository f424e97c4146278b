import { describe, expect, test } from "vitest";
import {
  type ApprovalDialog,
  type DialogAction,
  type DialogEvent,
  EMPTY_DIALOG,
  getPrompt,
  stepDialog,
} from "../../src/apps/cli/approval-dialog.ts";
import type { ApprovalRequest } from "../../src/apps/cli/approval-view.ts";

function call(id: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    session: "s1",
    path: [],
    toolCallId: id,
    tool: "bash",
    summary: `echo ${id}`,
    reason: "no rule allows it",
    sinceMs: 1_000,
    untilMs: undefined,
    arguments: { command: `echo ${id}` },
    ...more,
  };
}

/** The actions and the final state after all of these events, in order. */
function after(...events: readonly DialogEvent[]): {
  questions: ApprovalDialog;
  actions: readonly DialogAction[];
} {
  let questions = EMPTY_DIALOG;
  const actions: DialogAction[] = [];
  for (const event of events) {
    const step = stepDialog(questions, event);
    questions = step.dialog;
    actions.push(...step.actions);
  }
  return { questions, actions };
}

const [one, two] = [call("c1"), call("c2")];
const waiting = (...calls: readonly ApprovalRequest[]): DialogEvent => ({ type: "waiting", calls });
const line = (text: string): DialogEvent => ({ type: "line", text });
const interrupt: DialogEvent = { type: "interrupt" };
const asks = (which: ApprovalRequest, whole = false): DialogAction => ({ type: "ask", call: which, whole });

describe("answers", () => {
  test.each<[string, object]>([
    ["y", { type: "approve" }],
    [" Yes ", { type: "approve" }],
    ["a", { type: "approve", always: true }],
    ["always", { type: "approve", always: true }],
    ["n", { type: "deny" }],
    ["no", { type: "deny" }],
    ["n not on a  Friday", { type: "deny", reason: "not on a  Friday" }],
  ])("%j", (text, answer) => {
    const { questions, actions } = after(waiting(one), line(text));
    expect(actions).toEqual([asks(one), { type: "answer", call: one, answer }]);
    expect(getPrompt(questions)).toBeUndefined();
  });

  test.each(["yes please, and then commit", "always use pnpm", "ok", "1", "every test must pass", "yy"])(
    "%j, which the user may have been typing already, answers nothing and displays the valid answers",
    (text) => {
      const { questions, actions } = after(waiting(one), line(text));
      expect(actions.slice(1)).toEqual([{ type: "tell", text: expect.stringContaining("y: yes") }]);
      expect(questions.current?.call).toEqual(one);
    },
  );

  test("an empty line is not an answer", () => {
    const { questions, actions } = after(waiting(one), line("  "));
    expect(actions).toEqual([asks(one)]);
    expect(getPrompt(questions)?.prompt).toContain("y/n/a/e");
  });

  test("without a question, lines and Ctrl-C are ignored", () => {
    expect(after(line("y"), interrupt)).toEqual({ questions: EMPTY_DIALOG, actions: [] });
  });

  test("s displays all of it and asks again", () => {
    const { questions, actions } = after(waiting(one), line("s"));
    expect(actions).toEqual([asks(one), asks(one, true)]);
    expect(questions.current?.call).toEqual(one);
  });
});

describe("several questions", () => {
  test("are asked one after the other, in the order of the calls", () => {
    const { actions } = after(waiting(one, two), line("y"), line("n"));
    expect(actions).toEqual([
      asks(one),
      { type: "answer", call: one, answer: { type: "approve" } },
      asks(two),
      { type: "answer", call: two, answer: { type: "deny" } },
    ]);
  });

  test("are not asked again once answered, even if the run still lists them as pending", () => {
    const { questions, actions } = after(waiting(one), line("y"), waiting(one));
    expect(actions).toHaveLength(2);
    expect(questions.current).toBeUndefined();
    expect(after(waiting(one), line("y"), waiting(), waiting(one)).questions.current?.call).toEqual(one);
  });

  test("are distinct when a later call has the same id", () => {
    const later = call("c1", { sinceMs: 2_000 });
    expect(after(waiting(one), line("y"), waiting(later)).actions.at(-1)).toEqual(asks(later));
  });

  test("are not displayed again while they are asked", () => {
    expect(after(waiting(one), waiting(one), waiting(one, two)).actions).toEqual([asks(one)]);
  });
});

test("an answer from elsewhere withdraws the question with a message, and the next is asked", () => {
  const { questions, actions } = after(waiting(one, two), waiting(two));
  expect(actions).toEqual([
    asks(one),
    { type: "tell", text: "No longer waiting: bash: echo c1 (answered elsewhere, or timed out)." },
    asks(two),
  ]);
  expect(questions.current?.call).toEqual(two);
});

test("a question whose answer the run did not accept is asked again", () => {
  const { actions } = after(waiting(one), line("y"), { type: "not-taken", call: one });
  expect(actions.at(-1)).toEqual(asks(one));
});

describe("Ctrl-C", () => {
  test("leaves all pending questions open; a new one is asked; /approvals displays them again", () => {
    const left = after(waiting(one, two), interrupt, waiting(one, two));
    expect(left.actions).toEqual([asks(one), { type: "left", calls: [one, two] }]);
    expect(left.questions.current).toBeUndefined();
    const three = call("c3");
    expect(stepDialog(left.questions, waiting(one, two, three)).actions).toEqual([asks(three)]);
    expect(stepDialog(left.questions, { type: "again" }).actions).toEqual([asks(one)]);
  });

  test("while the arguments are edited returns to the question", () => {
    const { questions } = after(waiting(one), line("e"), interrupt);
    expect(questions.current).toEqual({ call: one, editedText: undefined });
  });
});

describe("e", () => {
  test("offers the arguments as one line of JSON, and approves with the edited ones", () => {
    const edited = after(waiting(one), line("e"));
    expect(getPrompt(edited.questions)).toEqual({
      asks: "arguments",
      prompt: "arguments > ",
      typed: '{"command":"echo c1"}',
    });
    expect(stepDialog(edited.questions, line('{"command":"echo hello"}')).actions).toEqual([
      {
        type: "answer",
        call: one,
        answer: { type: "approve", arguments: { command: "echo hello" } },
      },
    ]);
  });

  test.each([
    ['{"command":', "not JSON"],
    ['["echo"]', "one JSON object"],
    ["y", "not JSON"],
  ])("%j is not sent, and not lost", (text, said) => {
    const { questions, actions } = after(waiting(one), line("e"), line(text));
    expect(actions.at(-1)).toEqual({ type: "tell", text: expect.stringContaining(said) });
    expect(getPrompt(questions)?.typed).toBe(text);
  });

  test("an empty line returns to the question", () => {
    const { questions, actions } = after(waiting(one), line("e"), line(""));
    expect(actions.at(-1)).toEqual(asks(one));
    expect(questions.current?.editedText).toBeUndefined();
  });

  test.each([
    ["unknown here", call("c1", { arguments: undefined })],
    ["no object", call("c1", { arguments: "{broken" })],
    ["too long for a line", call("c1", { arguments: { content: "x".repeat(5_000) } })],
  ])("arguments that are %s must be edited elsewhere", (_, question) => {
    const { questions, actions } = after(waiting(question), line("e"));
    expect(actions.at(-1)).toEqual({ type: "tell", text: expect.stringContaining("--arguments @FILE") });
    expect(questions.current?.editedText).toBeUndefined();
  });
});
