import { describe, expect, test } from "vitest";
import { LINTERS } from "../../../src/apps/git/analysis/linters.ts";

const read = (name: string, output: unknown) => {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return LINTERS.find((linter) => linter.name === name)?.read(text);
};

describe("the machine output of", () => {
  test("clippy: messages of the compiler that have a place", () => {
    const line = (level: string, code: string | null, spans: readonly object[]) =>
      JSON.stringify({
        reason: "compiler-message",
        message: { level, message: "unused", code: code === null ? null : { code }, spans },
      });
    const span = { file_name: "src/main.rs", line_start: 3, is_primary: true };
    const output = [
      JSON.stringify({ reason: "compiler-artifact" }),
      line("warning", "unused_variables", [{ ...span, is_primary: false, line_start: 1 }, span]),
      line("error", null, []),
      "not json",
    ].join("\n");
    expect(read("clippy", output)).toEqual([
      { path: "src/main.rs", line: 3, severity: "warning", rule: "unused_variables", message: "unused" },
    ]);
  });

  test("eslint", () => {
    const messages = [{ ruleId: "no-var", severity: 2, message: "Unexpected var", line: 2 }];
    expect(read("eslint", [{ filePath: "/r/a.js", messages }])).toEqual([
      { path: "/r/a.js", line: 2, severity: "error", rule: "no-var", message: "Unexpected var" },
    ]);
  });

  test("oxlint", () => {
    const diagnostic = { message: "m", code: "eslint(no-debugger)", severity: "warning", filename: "a.js" };
    expect(read("oxlint", { diagnostics: [{ ...diagnostic, labels: [{ span: { line: 4 } }] }] })).toEqual([
      { path: "a.js", line: 4, severity: "warning", rule: "eslint(no-debugger)", message: "m" },
    ]);
  });

  test("golangci-lint", () => {
    const issue = { FromLinter: "govet", Text: "t", Severity: "", Pos: { Filename: "a.go", Line: 7 } };
    expect(read("golangci-lint", { Issues: [issue] })).toEqual([
      { path: "a.go", line: 7, severity: "warning", rule: "govet", message: "t" },
    ]);
    expect(read("golangci-lint", { Issues: null })).toEqual([]);
  });

  test("output of something else is an error", () => {
    for (const { name } of LINTERS.filter((linter) => linter.name !== "clippy"))
      expect(() => read(name, { unknown: true }), name).toThrow();
  });
});
