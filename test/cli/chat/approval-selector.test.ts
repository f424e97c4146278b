import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ApprovalSelector,
  createSelector,
  type SelectorKey,
  stepSelector,
} from "../../../src/apps/cli/chat/approval-selector.ts";

const CALL = createSelector({ always: "`ls`", canEdit: true, canShow: true, isForm: false });

function press(selector: ApprovalSelector, ...keys: readonly (SelectorKey["type"] | { text: string })[]) {
  return keys.reduce(
    (step, key) =>
      stepSelector(
        step.selector,
        typeof key === "string" ? ({ type: key } as SelectorKey) : { type: "text", ...key },
      ),
    { selector } as ReturnType<typeof stepSelector>,
  );
}

test("Enter chooses what the user has selected, by arrows, by a number or by its first letters, and nothing before that", () => {
  expect(press(CALL, "enter").answer).toBeUndefined();
  expect(press(CALL, { text: "yo" }, "enter").answer).toBeUndefined();
  expect(press(CALL, "down", "enter").answer).toBe("yes");
  expect(press(CALL, "down", "down", "down", "enter").answer).toBe("no");
  expect(press(CALL, "up", "enter").answer).toBe("later");
  expect(press(CALL, { text: "2" }, "enter").answer).toBe("always");
  expect(press(CALL, { text: "a" }, "enter").answer).toBe("always");
  expect(press(CALL, { text: "n" }, { text: "o" }, "enter").answer).toBe("no");
  expect(press(CALL, "later").answer).toBe("later");
});

test("`n` and a blank ask for the reason, as a line of the line mode", () => {
  const step = press(CALL, { text: "n" }, { text: " " });
  expect(step).toMatchObject({ answer: "reason", selector: { typed: "" } });
});

test("text that is no answer goes to the editor, with its first letters", () => {
  const step = press(CALL, { text: "y" }, { text: "o" });
  expect(step).toMatchObject({ text: "yo", selector: { typed: "" } });
  expect(step.selector.selected).toBeUndefined();
  expect(step.answer).toBeUndefined();
});

test("property: only Enter and Esc answer, and what is selected is always an option", () => {
  const key = fc.oneof(
    fc.constantFrom<SelectorKey>({ type: "up" }, { type: "down" }, { type: "erase" }),
    fc.string({ minLength: 1, maxLength: 3 }).map((text): SelectorKey => ({ type: "text", text })),
  );
  fc.assert(
    fc.property(fc.array(key), fc.boolean(), (keys, isForm) => {
      let selector = createSelector({ always: undefined, canEdit: true, canShow: false, isForm });
      for (const one of keys) {
        const step = stepSelector(selector, one);
        if (step.answer !== undefined) expect(step.answer).toBe("reason");
        selector = step.selector;
        const { selected } = selector;
        if (selected !== undefined) expect(selector.options[selected]).toBeDefined();
      }
    }),
  );
});

test("a form has its values to fill in, and no answer for further calls", () => {
  const form = createSelector({ always: undefined, canEdit: true, canShow: false, isForm: true });
  expect(form.options.map(({ answer }) => answer)).toEqual(["yes", "no", "edit", "later"]);
});
