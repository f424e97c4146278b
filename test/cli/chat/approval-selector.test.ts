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
const getSelected = ({ selector: { options, selected } }: ReturnType<typeof stepSelector>) =>
  options[selected]?.answer;

test("Enter chooses what is selected: the first answer, another by arrows, by a number or by its first letters", () => {
  expect(press(CALL, "enter").answer).toBe("yes");
  expect(press(CALL, "down", "down", "enter").answer).toBe("no");
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
  expect(step).toMatchObject({ text: "yo", selector: { selected: 0, typed: "" } });
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
        expect(getSelected(step)).toBeDefined();
      }
    }),
  );
});

test("a form has its values to fill in, and no answer for further calls", () => {
  const form = createSelector({ always: undefined, canEdit: true, canShow: false, isForm: true });
  expect(form.options.map(({ answer }) => answer)).toEqual(["yes", "no", "edit", "later"]);
});
