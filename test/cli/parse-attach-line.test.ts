import { expect, test } from "vitest";
import { parseAttachLine } from "../../src/apps/cli/parse-attach-line.ts";
import { PrefixedLines } from "../../src/apps/cli/prefixed-lines.ts";

test("a line steers the first session, or the one that it names", () => {
  expect(parseAttachLine(" use pnpm ", 2)).toEqual({
    sessionIndex: 0,
    action: { type: "steer", text: "use pnpm" },
  });
  expect(parseAttachLine("@2 use pnpm", 2)).toEqual({
    sessionIndex: 1,
    action: { type: "steer", text: "use pnpm" },
  });
  expect(parseAttachLine("@2 /f then commit it", 2)).toEqual({
    sessionIndex: 1,
    action: { type: "follow-up", text: "then commit it" },
  });
  expect(parseAttachLine("  ", 2)).toBeUndefined();
});

test("a message to an unknown session is not sent", () => {
  for (const line of ["@3 stop", "@0 stop"]) {
    expect(parseAttachLine(line, 2)).toEqual({
      sessionIndex: 0,
      action: { type: "tell", text: expect.stringContaining("there are 2 sessions") },
    });
  }
});

test("calls are answered by their id; a single pending call needs none", () => {
  expect(parseAttachLine("/approve", 1)?.action).toEqual({ type: "approve" });
  expect(parseAttachLine("/approve call_1", 1)?.action).toEqual({ type: "approve", call: "call_1" });
  expect(parseAttachLine("/deny call_1 not on a Friday", 1)?.action).toEqual({
    type: "deny",
    call: "call_1",
    reason: "not on a Friday",
  });
});

test("a mistyped command is not sent to the model; a path and a doubled slash are", () => {
  expect(parseAttachLine("/aprove", 1)?.action).toEqual({
    type: "tell",
    text: expect.stringContaining("/approve"),
  });
  expect(parseAttachLine("/etc/hosts", 1)?.action).toEqual({ type: "steer", text: "/etc/hosts" });
  expect(parseAttachLine("//stop is a word", 1)?.action).toEqual({ type: "steer", text: "/stop is a word" });
});

test("with several sessions each line names its session, even if the line arrives in chunks or does not end", () => {
  let shown = "";
  const lines = new PrefixedLines("[2]", (text) => {
    shown += text;
  });
  for (const piece of ["one", " line\nand ", "another\n", "word ".repeat(30)]) lines.write(piece);
  const [first, second, third = ""] = shown.split("\n");
  expect([first, second]).toEqual(["[2] one line", "[2] and another"]);
  expect(third.startsWith("[2] word word") && third.length < 110).toBe(true);
});
