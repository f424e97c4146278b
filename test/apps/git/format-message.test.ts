import fc from "fast-check";
import { expect, test } from "vitest";
import { CommitMessage } from "../../../src/apps/git/artifacts/commit-message.ts";
import { formatMessage } from "../../../src/apps/git/commit/format-message.ts";

const format = (fields: object) => formatMessage(CommitMessage.parse(fields));

test("a message is the emoji and the title, a blank line, and the body with the lines that it has", () => {
  const body =
    "A line that is longer than seventy-two characters stays as long as somebody has written it.\n\n- a\n  - b";
  expect(format({ emoji: "✨", title: "Add a thing", message: `\n${body}\n\n` })).toBe(
    `✨ Add a thing\n\n${body}\n`,
  );
  expect(format({ title: "Only a title" })).toBe("Only a title\n");
  expect(format({ emoji: "🧑‍💻", title: "Join", message: "" })).toBe("🧑‍💻 Join\n");
});

test("a title of 72 characters stays, and a longer one goes on in the body", () => {
  const words = "nine char ".repeat(8).trim();
  expect(format({ title: words.slice(0, 72) })).toBe(`${words.slice(0, 72)}\n`);
  expect(format({ title: words, message: "Body" })).toBe(
    `${"nine char ".repeat(7).trim()}…\n\n…nine char\n\nBody\n`,
  );
  expect(format({ title: "x".repeat(80) })).toBe(`${"x".repeat(71)}…\n\n…${"x".repeat(9)}\n`);
});

test("characters that act on a terminal or turn text around are left out, and line ends are line feeds", () => {
  expect(format({ title: "Fix\x1b[31m it\nnow\0", message: "one\r\ntwo\u202e\x9b" })).toBe(
    "Fix[31m it now\n\none\ntwo\n",
  );
});

test("whatever the title, the subject has at most 72 characters, and no word of it is lost", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\w[\w ]{0,200}$/), (title) => {
      const [subject = "", ...rest] = format({ title }).split("\n");
      expect([...subject].length).toBeLessThanOrEqual(72);
      const whole = [subject, ...rest].join("").replace(/…/g, "").replace(/ /g, "");
      expect(whole).toBe(title.replace(/ /g, ""));
    }),
  );
});
