import { describe, expect, test } from "vitest";
import { chooseRevert } from "../../src/conversation/pruning/choose-revert.ts";
import { formatTag } from "../../src/core/view/tag.ts";
import type { Span, View } from "../../src/core/view/view.ts";
import type { ToolView } from "../../src/core/view/view-request.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";
import { answer, entriesOf, extension, loop, result, user } from "./compaction-messages.ts";

const spanOf = (from: number, to: number, rest: Partial<Span> = {}): Span => ({
  ...{ from, to, turns: 1, tokens: 1 },
  ...rest,
});
const viewOf = (spans: readonly Span[], rest: Partial<View> = {}): View => ({
  branch: "main",
  spans,
  ...rest,
});
/** The entries of these messages. The machine has written those that are a text. */
const write = (...messages: readonly (AgentMessage | string)[]): readonly Entry[] =>
  entriesOf(messages.map((message) => (typeof message === "string" ? user(message) : message))).map(
    (entry, index) => (typeof messages[index] === "string" ? { ...entry, origin: "machine" } : entry),
  );
const tag = (target: number) => formatTag("failure", target, "a lesson");
const chosen = (entries: readonly Entry[], step: string, given: Partial<ToolView> = {}) =>
  chooseRevert({ view: viewOf([spanOf(0, entries.length)]), loopFrom: 0, ...given }, entries, {
    category: "failure",
    step,
  });
const reasonOf = (request: ReturnType<typeof chooseRevert>) =>
  request.applied ? undefined : { target: request.target, reason: request.reason };
const isNotFound = (step: string) => ({
  target: undefined,
  reason: `there is no entry ${step} in the context: name one by its label, such as "n12"`,
});

describe("a model goes back", () => {
  // A prompt, and three turns with a call each.
  const entries = entriesOf(loop("L.1", 3));

  test("to the named entry, with its category and its summary [PHI-01.2]", () => {
    const view = viewOf([spanOf(0, 1), spanOf(1, 7)]);
    expect(
      chooseRevert({ view, loopFrom: 0 }, entries, { category: "tangent", step: "n0", summary: "it is so" }),
    ).toEqual({
      type: "revert",
      category: "tangent",
      summary: "it is so",
      applied: true,
      target: 0,
      fork: 1,
    });
    expect(chosen(entries, "n0", { view })).not.toHaveProperty("summary");
  });

  test("to the last result of an answer, also when it names the answer or an earlier result [PHI-05.2]", () => {
    const pair = write(user("hi"), answer("", ["a", "b"]), result("a", "1"), result("b", "2"), answer("ok"));
    for (const step of ["n1", "n2", "n3"]) expect(chosen(pair, step)).toMatchObject({ target: 3, fork: 4 });
    expect(chosen(pair, "n4")).toMatchObject({ target: 4, fork: 5 });
  });

  test("after the tags that it left there before, unless a text has replaced them", () => {
    const tagged = write(user("hi"), tag(0), tag(0), tag(9), answer("x"));
    expect(chosen(tagged, "n0")).toMatchObject({ target: 0, fork: 3 });
    const replacement = { position: 0, section: 0 };
    const view = viewOf([spanOf(0, 2), spanOf(2, 3, { replacement }), spanOf(3, 5)]);
    expect(chosen(tagged, "n0", { view })).toMatchObject({ fork: 2 });
    expect(chosen(write(user("hi"), tag(0)), "n0")).toMatchObject({ fork: 2 });
    // The view does not contain the newest tag yet.
    expect(chosen(tagged, "n0", { view: viewOf([spanOf(0, 2)]) })).toMatchObject({ fork: 3 });
  });

  test("to a border of the view, or into a span, which ends there with the tokens of what it keeps", () => {
    const view = viewOf([spanOf(0, 3), spanOf(3, 7)]);
    expect(chosen(entries, "n2", { view })).not.toHaveProperty("last");
    const inside = chosen(entries, "n4", { view });
    const tokens = entries[3]!.tokens + entries[4]!.tokens;
    expect(inside).toMatchObject({ fork: 5, last: { from: 3, to: 5, turns: 1, tokens } });
    const memos = [2, 4].map((memoTokens) => ({ position: 0, call: 0, tokens: memoTokens }));
    expect(chosen(entries, "n4", { view: viewOf([spanOf(0, 3), spanOf(3, 7, { memos })]) })).toMatchObject({
      last: { tokens: tokens + 6, memos },
    });
  });

  test("within a span of one entry more than it keeps", () => {
    const [first] = entries;
    expect(chosen(entries, "n0", { view: viewOf([spanOf(0, 2), spanOf(2, 7)]) })).toMatchObject({
      last: { from: 0, to: 1, tokens: first!.tokens },
    });
  });
});

describe("going back is refused", () => {
  const entries = entriesOf(loop("L.1", 3));

  test("when another call of the same answer already goes back", () => {
    expect(chosen(entries, "n0", { isReverted: true })).toEqual({
      type: "revert",
      category: "failure",
      applied: false,
      reason: "another call of the same answer already goes back",
    });
  });

  test.each(["n7", "last", "n-1"])("to an entry that does not exist (%s) [PHI-03.1]", (step) => {
    expect(reasonOf(chosen(entries, step))).toEqual(isNotFound(step));
  });

  test("with the first 32 characters of a long name", () => {
    expect(reasonOf(chosen(entries, "x".repeat(40)))).toEqual(isNotFound("x".repeat(32)));
  });

  test("to an entry that is not in the context [PHI-03.1]", () => {
    const replacement = { position: 6, section: 0 };
    const view = viewOf([
      spanOf(0, 1, { replacement }),
      spanOf(1, 3, { isPruned: true }),
      spanOf(5, 6),
      spanOf(6, 7),
    ]);
    for (const step of ["n0", "n1", "n2", "n3", "n4"])
      expect(reasonOf(chosen(entries, step, { view }))).toEqual(isNotFound(step));
    expect(chosen(entries, "n5", { view })).toMatchObject({ applied: true });
  });

  test("to an entry without a label: a tag, what is not for the model, what the vendor refused to write", () => {
    const refused: AgentMessage = { ...answer("no"), stopReason: "guardRail" };
    const written = write(user("hi"), tag(0), extension("a note"), refused, answer("ok"));
    for (const step of ["n1", "n2", "n3"]) expect(reasonOf(chosen(written, step))).toEqual(isNotFound(step));
    expect(chosen(written, "n4")).toMatchObject({ applied: true });
  });

  test("to a position before the loop", () => {
    expect(reasonOf(chosen(entries, "n1", { loopFrom: 4 }))).toEqual({
      target: 2,
      reason: "n2 is before this loop",
    });
    expect(chosen(entries, "n1", { loopFrom: 3 })).toMatchObject({ applied: true, fork: 3 });
  });

  test("to a position before a message of the user, not before one of the machine [PHI-03.2]", () => {
    const spoken = write(user("hi"), answer("x"), user("look here"), answer("y"), "go on", answer("z"));
    const reason = "the user has sent a message since (n2): go back to that entry or a later one";
    expect(reasonOf(chosen(spoken, "n0"))).toEqual({ target: 0, reason });
    expect(reasonOf(chosen(spoken, "n1"))).toEqual({ target: 1, reason });
    expect(chosen(spoken, "n2")).toMatchObject({ applied: true, fork: 3 });
  });
});
