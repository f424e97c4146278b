import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { announcesToolCall, decideNudge, TOOL_INTENT_NUDGE } from "../../src/core/machine/tool-intent.ts";
import { cpuMs } from "../support/cpu-time.ts";

const DEFAULTS = { enabled: true, maxNudges: 2 };

describe("a text that announces a call", () => {
  test.each([
    "Let me search for that file",
    "I'll now check the logs.",
    "I’ll read the configuration first:",
    "I will go ahead and run the tests.",
    "I'm going to look at `src/main.ts`.",
    "The import is missing. Let me fix that... I need to open the file first.",
    "Let's take a closer look at the stack trace.",
    "I'll start by reading the package file.",
    "LET ME CHECK",
    "Here is what I know:\n\n- a\n- b\n\nNext, I'll use the search tool to find the rest.",
    "I will fetch the page.\n\n```js\nfetch(url)\n```",
    "Let me explain what happened. Now let me run the build again.",
  ])("%j [IRON-10.2, GAP-04.1]", (text) => expect(announcesToolCall(text)).toBe(true));

  test.each([
    "The file is in src/main.ts.",
    "Let me explain how this works.",
    "Let me know if I should check anything else.",
    "If you like, I'll run the tests.",
    "Should I open the file?",
    "Would you like me to search? I'll wait.",
    "I searched for the file and found nothing.",
    "You can run `let me search` yourself.",
    'The log says "let me check the disk".',
    "> I'll read it\n\nThat is what he said.",
    "```\nlet me search for that\n```",
    "I'll run you through the changes.",
    "I'll update you when there is news.",
    "I'll check back later.",
    "I'll write it down as a readme-like text? No.",
    "Let me check the sum: 2 and 2.\n\nThe sum is 4.",
    "I'll read-ahead",
    "",
    "   \n\n ",
  ])("%j does not [IRON-10.2, GAP-04.1]", (text) => expect(announcesToolCall(text)).toBe(false));

  test("is classified quickly, whatever it contains", () => {
    const piece = fc.constantFrom(
      "let me ",
      "i'll ",
      "now ",
      '"',
      "“",
      "`",
      "\n",
      "```\n",
      "> ",
      "check ",
      ". ",
      " ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 1, max: 500 }), (pieces, times) => {
        expect(typeof announcesToolCall(pieces.join("").repeat(times))).toBe("boolean");
      }),
      { numRuns: 1000 },
    );
    const spentMs = cpuMs(() => {
      for (const hostile of ["“", '"', "let me ", "\n ", "now "]) announcesToolCall(hostile.repeat(200_000));
    });
    expect(spentMs).toBeLessThan(5000);
  });
});

describe("the nudge", () => {
  test("says what was missing [IRON-10.4, GAP-04.2]", () => {
    expect(TOOL_INTENT_NUDGE).toContain("you did not include any tool calls");
    // The nudge must not be detected as an announcement itself.
    expect(announcesToolCall(TOOL_INTENT_NUDGE)).toBe(false);
  });

  test("is sent for the first two of three announcements, and the third one is the answer [IRON-02.2, IRON-10.1, IRON-11.3]", () => {
    let nudges = 0;
    const verdicts = [1, 2, 3].map(() => {
      const verdict = decideNudge(DEFAULTS, { intent: true, mayCall: true, nudges });
      nudges = verdict.nudges;
      return verdict;
    });
    expect(verdicts).toEqual([
      { nudge: true, nudges: 1 },
      { nudge: true, nudges: 2 },
      { nudge: false, nudges: 2 },
    ]);
  });

  test("is counted from zero after a text without an announcement [IRON-11.2]", () => {
    expect(decideNudge(DEFAULTS, { intent: false, mayCall: true, nudges: 2 })).toEqual({
      nudge: false,
      nudges: 0,
    });
  });

  test("is sent only if it is enabled and a call is possible [IRON-10.1]", () => {
    const intent = { intent: true, mayCall: true, nudges: 0 };
    expect(decideNudge({ enabled: false, maxNudges: 2 }, intent).nudge).toBe(false);
    expect(decideNudge({ enabled: true, maxNudges: 0 }, intent).nudge).toBe(false);
    expect(decideNudge(DEFAULTS, { ...intent, mayCall: false })).toEqual({ nudge: false, nudges: 0 });
  });
});
