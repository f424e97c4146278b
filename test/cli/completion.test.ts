import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { type CommandNode, describeCommand } from "../../src/apps/cli/command-tree.ts";
import { formatManPage } from "../../src/apps/cli/man-page.ts";
import { ALL_COMMANDS, buildProgram } from "../../src/apps/cli/program.ts";
import { formatCompletions } from "../../src/apps/cli/shell-completions.ts";
import { createTerminal, runHoldfast } from "./terminal.ts";

const program = describeCommand(await buildProgram(createTerminal().streams, ALL_COMMANDS, async () => {}));

/** Returns what bash offers for the last word of a command line. */
function complete(...words: readonly string[]): readonly string[] {
  const script = `${formatCompletions("bash", program)}
COMP_WORDS=(holdfast "$@"); COMP_CWORD=$#; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...words], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((word) => word !== "");
}

test.each([
  [["sta"], ["status"]],
  [
    ["job", "st"],
    ["status", "stop"],
  ],
  [
    ["--home", "status", "re"],
    ["retention", "rerun", "rewind", "restore", "rekey"],
  ],
  [
    ["run", "--max-t"],
    ["--max-turns", "--max-tokens"],
  ],
  [["run", "Go", "--names"], ["--namespace"]],
  [["status", "--address", ""], []],
  [["show", "a"], []],
])("bash completes %j", (words, offers) => {
  expect(complete(...words)).toEqual(expect.arrayContaining(offers));
  expect(complete(...words).filter((word) => !word.startsWith(words.at(-1) ?? ""))).toEqual([]);
  if (offers.length === 0) expect(complete(...words)).toEqual([]);
});

test("zsh and fish know every command and every option", () => {
  const zsh = formatCompletions("zsh", program);
  const fish = formatCompletions("fish", program);
  const check = (node: CommandNode, path: string) => {
    for (const { long = "" } of node.options) {
      expect(zsh).toContain(`'${long}:`);
      expect(fish).toMatch(new RegExp(` -l ${long.slice(2)} `));
    }
    for (const one of node.commands) {
      expect(zsh).toContain(`'${`${path} ${one.name}`.trim()}')`);
      expect(fish).toContain(` -f -a ${one.name} `);
      check(one, `${path} ${one.name}`.trim());
    }
  };
  check(program, "");
});

test("the manual page has every command with its options, the exit codes, and only ASCII", () => {
  const page = formatManPage(program, "1.2.3");
  for (const { name, options } of program.commands) {
    expect(page).toContain(`.SS "holdfast ${name.replace(/-/g, "\\-")} `);
    for (const { flags } of options) expect(page).toContain(`.B ${flags.replace(/-/g, "\\-")}`);
  }
  expect(page).toContain(".SH EXIT CODES");
  expect(page).toMatch(/^[\x20-\x7e\n]*$/);
});

test("holdfast completion prints the script that the build has generated", async () => {
  const { code, out } = await runHoldfast(["completion", "bash"]);
  expect(code).toBe(0);
  expect(out).toContain("complete -o default -F _holdfast holdfast");
  expect((await runHoldfast(["completion", "csh"])).code).toBe(2);
});
