import { describe, expect, test } from "vitest";
import {
  type ApprovalRequest,
  formatApprovalRequest,
  formatArgumentsJson,
  formatWaitingCall,
  formatWaitingRows,
  getComparedPath,
  isTruncated,
} from "../../src/apps/cli/approval-view.ts";
import { formatCommandLine, quoteShellWord } from "../../src/apps/cli/command-line.ts";
import { escapeInvisible } from "../../src/apps/cli/escape-invisible.ts";
import { createPalette } from "../../src/apps/cli/palette.ts";
import { formatDuration } from "../../src/apps/cli/text.ts";

const paint = createPalette({ isTTY: false }, {});

function call(tool: string, args: unknown, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    session: "s1",
    path: [],
    toolCallId: "c1",
    tool,
    summary: "what it is about",
    reason: "otherwise",
    sinceMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    untilMs: undefined,
    arguments: args,
    ...more,
  };
}

test("a command line to copy names the server, home and store of the current one", () => {
  const options = {
    address: "temporal:7233",
    namespace: "prod",
    taskQueue: "q",
    home: "/home/me/a b",
    database: "postgresql://me@db:5432/holdfast?sslmode=disable",
    profile: "work",
  };
  expect(formatCommandLine({ ...options, json: true }, ["approve", "s1"])).toBe(
    "holdfast approve s1 --address temporal:7233 --namespace prod --task-queue q --home '/home/me/a b' " +
      "--database 'postgresql://me@db:5432/holdfast?sslmode=disable' --profile work",
  );
  // An empty value counts, too: no database, whatever the environment says.
  expect(formatCommandLine({ database: "" }, ["deny"])).toBe("holdfast deny --database ''");
  expect(formatCommandLine({}, ["deny"])).toBe("holdfast deny");
});

const shown = (question: ApprovalRequest, whole = false) => formatApprovalRequest(question, { paint, whole });

describe("a question displays", () => {
  test("the exact command of a shell, every line of it", () => {
    const command = Array.from({ length: 200 }, (_, at) => `echo ${at}`).join("\n");
    const lines = shown(call("bash", { command }));
    expect(lines[0]).toBe("? bash wants to run");
    expect(lines.slice(1, 201)).toEqual(command.split("\n").map((line) => `  ${line}`));
    expect(lines.at(-1)).toBe("  reason: otherwise");
  });

  test("all arguments of a shell that has more than the command", () => {
    const lines = shown(call("bash", { command: "ls", cwd: "/etc" })).join("\n");
    expect(lines).toContain('"command": "ls"');
    expect(lines).toContain('"cwd": "/etc"');
  });

  test("the removed and the added text of an edit", () => {
    const args = { path: "src/a.ts", old_text: "one\ntwo\nthree", new_text: "one\n2\nthree" };
    expect(shown(call("edit_file", args)).slice(0, -1)).toEqual([
      "? edit_file wants to change src/a.ts",
      "    one",
      "  - two",
      "  + 2",
      "    three",
    ]);
  });

  test("the changes to a file that exists", () => {
    const question = call(
      "write_file",
      { path: "a.txt", content: "one\n2\n" },
      { currentFile: { type: "text", text: "one\ntwo\n" } },
    );
    expect(getComparedPath(question)).toBe("a.txt");
    expect(shown(question).slice(0, -1)).toEqual([
      "? write_file wants to replace a.txt",
      "    one",
      "  - two",
      "  + 2",
      "    ",
    ]);
  });

  test.each([
    ["absent", "which does not exist"],
    ["unknown", "cannot be compared"],
  ] as const)("the whole content of a file that is %s", (type, said) => {
    const lines = shown(call("write_file", { path: "a.txt", content: "new" }, { currentFile: { type } }));
    expect(lines[0]).toContain(said);
    expect(lines[1]).toBe("  + new");
  });

  test("the arguments of any other tool, and the text of arguments that are not JSON", () => {
    expect(shown(call("refund", { cents: 7 })).join("\n")).toContain('"cents": 7');
    expect(shown(call("refund", '{"cents": 7')).join("\n")).toContain('  {"cents": 7');
  });

  test("the summary without the transcript, and that this is only a summary", () => {
    const lines = shown(call("bash", undefined)).join("\n");
    expect(lines).toContain("what it is about");
    expect(lines).toContain("not in the transcript of this machine");
  });

  test("the beginning of long arguments, unless all of it is requested", () => {
    const question = call(
      "refund",
      Array.from({ length: 100 }, (_, at) => at),
    );
    expect(isTruncated(question, paint)).toBe(true);
    expect(shown(question).join("\n")).toContain("more lines");
    expect(shown(question, true)).toHaveLength(104);
    expect(isTruncated(call("refund", {}), paint)).toBe(false);
  });

  test("its deadline, if it has one", () => {
    const lines = shown(call("bash", { command: "ls" }, { untilMs: 0 }));
    expect(lines.at(-1)).toContain("1970-01-01T00:00:00.000Z");
  });
});

test("control and invisible characters are escaped", () => {
  const escapeCharacter = String.fromCodePoint(27);
  const command = `rm -rf x ${escapeCharacter}[2K\rls \u202egnp.exe`;
  expect(escapeInvisible(command)).toBe("rm -rf x \\u001b[2K\\u000dls \\u202egnp.exe");
  expect(shown(call("bash", { command }))[1]).toBe(`  ${escapeInvisible(command)}`);
  expect(escapeInvisible("a\n\tb")).toBe("a\n\tb");
});

test("arguments on one line are still the same arguments", () => {
  const args = { text: `a\u2028b\u202e\u{e0041}${String.fromCodePoint(27)}\nc` };
  const line = formatArgumentsJson(call("x", args)) ?? "";
  expect(line).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(line)).toEqual(args);
});

test("status displays the call, the reason, since when, until when, and the commands to type", () => {
  const question = call("bash", { command: "npm publish" }, { untilMs: Date.UTC(2026, 0, 2, 4) });
  const rows = formatWaitingRows(question, {
    options: { address: "host:1" },
    nowMs: question.sinceMs + 3 * 60_000,
  });
  expect(rows).toEqual([
    ["waits", "bash: npm publish"],
    ["reason", "otherwise"],
    ["since", "2026-01-02T03:04:05.000Z (3 minutes), until 2026-01-02T04:00:00.000Z, then denied"],
    ["yes", "holdfast approve s1 c1 --address host:1"],
    ["no", "holdfast deny s1 c1 --address host:1"],
  ]);
});

test("ids from outside are quoted for the shell", () => {
  expect(quoteShellWord("call_1")).toBe("call_1");
  expect(quoteShellWord("x; rm -rf 'y'")).toBe("'x; rm -rf '\\''y'\\'''");
  const lines = formatWaitingCall(call("bash", { command: "ls" }, { toolCallId: "$(id)" }), {
    options: {},
  });
  expect(lines[1]).toBe("  yes: holdfast approve s1 '$(id)'");
});

test("a duration is displayed in its largest unit", () => {
  expect([0, 60_000, 7_200_000, 3 * 86_400_000].map(formatDuration)).toEqual([
    "less than a minute",
    "1 minute",
    "2 hours",
    "3 days",
  ]);
});

test("the scope of `always` is displayed before it is granted", () => {
  const covers = ["`ls` with any arguments within the workspace", "exactly `npm test`"];
  const line = `always: ${covers.join(", ")}`;
  const shown = (more: Partial<ApprovalRequest>) => {
    const one = call("bash", { command: "ls && npm test" }, more);
    return [
      formatApprovalRequest(one, { paint }).map((text) => text.trim()),
      formatWaitingCall(one, { options: {} }).map((text) => text.trim()),
      formatWaitingRows(one, { options: {}, nowMs: 0 }).map(([name, text]) => `${name}: ${text}`),
    ];
  };
  for (const lines of shown({ grantDescriptions: covers })) expect(lines).toContain(line);
  for (const lines of shown({ grantDescriptions: [] })) {
    expect(lines).toContain("always: covers nothing; each such call needs approval");
  }
  for (const lines of shown({})) expect(lines.join()).not.toContain("always");
});
