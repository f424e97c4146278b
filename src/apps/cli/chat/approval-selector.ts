import { omitUndefined } from "../../../platform/text/omit-undefined.ts";

// The selection of an answer to an open question at a terminal, without terminal I/O.
//
// Invariants
//   I1. Only Enter answers, and only what the user has selected: a question that opens under the user's fingers is not
//       answered by the Enter of a message. A letter or word selects an answer, and text that is no answer goes to the
//       editor, whole.
//   I2. While something is typed in the editor, a question takes no keys until the user gives it the focus.

export type Answer = "yes" | "no" | "reason" | "always" | "edit" | "show" | "later";

type ApprovalOption = {
  readonly answer: Answer;
  readonly label: string;
  /** What selects it, in full or abbreviated. */
  readonly words: readonly string[];
};

export type ApprovalSelector = {
  readonly options: readonly ApprovalOption[];
  /** The index of the selected answer; absent until the user selects one. */
  readonly selected?: number;
  /** The letters since the question has the focus. */
  readonly typed: string;
};

export type SelectorKey =
  | { readonly type: "up" | "down" | "enter" | "later" | "erase" }
  | { readonly type: "text"; readonly text: string };

export type SelectorStep = {
  readonly selector: ApprovalSelector;
  /** The chosen answer. */
  readonly answer?: Answer;
  /** Text for the editor, which gets the focus. */
  readonly text?: string;
};

/**
 * Builds the selection for a question.
 *
 * @param question.always - What an approval for further calls covers; absent if there is no such approval.
 * @param question.isForm - Whether a tool asks for values, so that there is something to fill in rather than to change.
 */
export function createSelector(question: {
  readonly always: string | undefined;
  readonly canEdit: boolean;
  readonly canShow: boolean;
  readonly isForm: boolean;
}): ApprovalSelector {
  const { always, canEdit, canShow, isForm } = question;
  const options: readonly (ApprovalOption | false)[] = [
    { answer: "yes", label: isForm ? "Yes, with the default values" : "Yes", words: ["yes"] },
    !isForm && {
      answer: "always",
      label: `Yes, and always${always === undefined ? " as displayed" : `: ${always}`}`,
      words: ["always"],
    },
    { answer: "no", label: "No", words: ["no", "deny"] },
    !isForm && { answer: "reason", label: "No, and tell the agent why", words: ["reason"] },
    canEdit && { answer: "edit", label: isForm ? "Enter the values" : "Edit the arguments", words: ["edit"] },
    canShow && { answer: "show", label: "Show all of it", words: ["show"] },
    { answer: "later", label: "Decide later (Esc)", words: ["later"] },
  ];
  return { options: options.filter((option) => option !== false), typed: "" };
}

export function stepSelector(selector: ApprovalSelector, key: SelectorKey): SelectorStep {
  const { options, selected } = selector;
  switch (key.type) {
    case "up":
      return {
        selector: {
          ...selector,
          selected: ((selected ?? 0) + options.length - 1) % options.length,
          typed: "",
        },
      };
    case "down":
      return { selector: { ...selector, selected: ((selected ?? -1) + 1) % options.length, typed: "" } };
    case "enter": {
      const answer = selected === undefined ? undefined : options[selected]!.answer;
      return { selector: { ...selector, typed: "" }, ...omitUndefined({ answer }) };
    }
    case "later":
      return { selector, answer: "later" };
    case "erase":
      return { selector: { ...selector, typed: selector.typed.slice(0, -1) } };
    case "text":
      return typeText(selector, selector.typed + key.text);
  }
}

function typeText(selector: ApprovalSelector, typed: string): SelectorStep {
  const { options } = selector;
  // As in the line mode, what follows the word is the reason.
  const reason = /^(?:n|no|d|deny) $/i.test(typed) && options.some(({ answer }) => answer === "reason");
  if (reason) return { selector: { ...selector, typed: "" }, answer: "reason" };
  const digit = /^[1-9]$/.test(typed) ? Number(typed) - 1 : undefined;
  const index =
    digit ?? options.findIndex(({ words }) => words.some((word) => word.startsWith(typed.toLowerCase())));
  if (index >= 0 && index < options.length) return { selector: { ...selector, selected: index, typed } };
  return { selector: { options, typed: "" }, text: typed };
}
