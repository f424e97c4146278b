import fc from "fast-check";
import { expect, test } from "vitest";
import {
  appendOutput,
  EMPTY_OUTPUT,
  getFirstLines,
  getLastLines,
  MAX_HEAD_CHARS,
} from "../../../src/apps/cli/chat/tool-output.ts";

const LINES = fc.array(fc.constantFrom("a", "b\n", "\n", "long line ", "x".repeat(9_000), "\n\n"), {
  maxLength: 40,
});

test("property: the lines are those of the whole text, however it arrived, and what is kept is bounded", () => {
  fc.assert(
    fc.property(LINES, (pieces) => {
      const output = pieces.reduce(appendOutput, EMPTY_OUTPUT);
      const text = pieces.join("");
      const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
      expect([output.chars, output.lines]).toEqual([text.length, lines.length]);
      const first = getFirstLines(output, 3);
      expect(first.lines.length + first.more).toBe(lines.length);
      if (text.length <= MAX_HEAD_CHARS) expect(first.lines).toEqual(lines.slice(0, 3));
      const last = getLastLines(output, 3);
      expect(last.lines.length + last.more).toBe(lines.length);
      for (const [index, line] of last.lines.toReversed().entries())
        expect(lines.at(-1 - index)?.endsWith(line)).toBe(true);
      expect(output.head.length + output.tail.length).toBeLessThanOrEqual(MAX_HEAD_CHARS + 8_000);
    }),
  );
});
