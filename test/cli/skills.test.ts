import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatSkill, writeFiles } from "../skills/skill-folders.ts";
import { createTemporaryFolder } from "../tools/tool-context.ts";
import { runHoldfast } from "./terminal.ts";

async function stocked() {
  const home = await createTemporaryFolder();
  await writeFiles(home, {
    ".holdfast/skills/git/SKILL.md": formatSkill("git", { head: "allowed-tools: Bash(git:*)\n" }),
    "more/git/SKILL.md": formatSkill("git", { description: "Another one." }),
    "more/note/SKILL.md": formatSkill("note"),
    "bad/odd/SKILL.md": formatSkill("odd", { head: "licence: MIT\n" }),
    "bad/none/SKILL.md": "---\nname: none\n---\nx\n",
    "bad/Loud/SKILL.md": formatSkill("Loud"),
  });
  return home;
}

test("skills are listed: of the home, of folders, of an agent [SKL-03.2, SKL-03.4]", async () => {
  const home = await stocked();
  const env = { HOME: home };
  const rows = ({ out }: { out: string }) =>
    out
      .trim()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
  expect(rows(await runHoldfast(["skills", "list"], env))).toEqual([
    ["NAME", "FOLDER", "DESCRIPTION"],
    ["git", `${home}/.holdfast/skills/git`, "Does git."],
  ]);
  const both = ["skills", "list", "--folder", "~/.holdfast/skills", "--folder", join(home, "more"), "--json"];
  const told = (await runHoldfast(both, env)).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(told).toMatchObject([
    { type: "skill", name: "git", description: "Another one.", source: "dir:1", allowedTools: [] },
    { type: "skill", name: "note", folder: `${home}/more/note` },
  ]);
  const file = join(home, "agent.toml");
  await writeFile(
    file,
    `[provider]\nmodel = "m"\napi_key = "\${KEY}"\n[skills]\nfolders = ["~/missing", "more"]\nnames = ["note", "nope"]\n[agent]\nworkspace = "${home}"\n`,
  );
  const agent = await runHoldfast(["skills", "list", "--agent", file], env);
  expect(rows(agent).map(([name]) => name)).toEqual(["NAME", "note"]);
  expect(agent.err).toContain('The skill "nope" does not exist');
});

test("check reports each problem with file and line, and exits with 1 [SKL-02.2]", async () => {
  const home = await stocked();
  const bad = join(home, "bad");
  const { code, out } = await runHoldfast(["skills", "check", bad, join(home, "more/note")]);
  expect(code).toBe(1);
  expect(out.trim().split("\n")).toEqual([
    `${bad}/Loud/SKILL.md:2: error: name: "Loud" may contain only lowercase letters (a-z), digits and hyphens`,
    `${bad}/none/SKILL.md:1: error: description: description is missing`,
    `${bad}/odd/SKILL.md:4: warning: licence: the format does not define this key; did you mean "license"?`,
    `ok  odd: ${bad}/odd`,
    `ok  note: ${home}/more/note`,
    "2 errors, 1 warning",
  ]);
  const odd = join(bad, "odd");
  expect((await runHoldfast(["skills", "check", odd])).code).toBe(0);
  expect((await runHoldfast(["skills", "check", odd, "--strict"])).code).toBe(1);
  const { out: json } = await runHoldfast(["skills", "check", odd, "--json"]);
  expect(JSON.parse(json)).toMatchObject({
    type: "check",
    name: "odd",
    valid: true,
    problems: [{ line: 4 }],
  });
});

test("check of a folder without skills fails if the folder was named, and not if it is the default", async () => {
  const home = await createTemporaryFolder();
  expect(await runHoldfast(["skills", "check", home])).toMatchObject({
    code: 1,
    out: expect.stringContaining(`${home}: error: it contains no folder with a SKILL.md`),
  });
  const none = expect.stringMatching(/^No skills in .*\.holdfast\/skills \(does not exist\)\.\n$/);
  expect(await runHoldfast(["skills", "check"], { HOME: home })).toMatchObject({
    code: 0,
    out: "",
    err: none,
  });
  expect(await runHoldfast(["skills", "list"], { HOME: home })).toMatchObject({
    code: 0,
    out: "",
    err: none,
  });
});
