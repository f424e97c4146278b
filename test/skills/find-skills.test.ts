import { spawnSync } from "node:child_process";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  findSkills,
  findSkillsInFolder,
  loadSkill,
  mergeSkills,
  type Skill,
} from "../../src/tools/sources/skills/find-skills.ts";
import { resolveSkillFolder } from "../../src/tools/sources/skills/resolve-skill-folder.ts";
import { listSkillFiles, MAX_BYTES, MAX_FILES } from "../../src/tools/sources/skills/skill-files.ts";
import { openRoot } from "../../src/tools/workspace/workspace-access.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createTemporaryFolder } from "../tools/tool-context.ts";
import { formatSkill, writeFiles } from "./skill-folders.ts";

test("folders are searched in order, missing ones are ignored; a later one wins by name [SKL-03.1-3]", async () => {
  const base = await createTemporaryFolder();
  await writeFiles(base, {
    "a/git/SKILL.md": formatSkill("git", { description: "The first." }),
    "a/aaa/SKILL.md": formatSkill("aaa"),
    "a/notes.md": "no skill",
    "a/empty/readme.md": "no skill",
    "a/.hidden/SKILL.md": formatSkill("hidden"),
    "b/git/SKILL.md": formatSkill("git", { description: "The second." }),
  });
  await symlink(join(base, "b"), join(base, "link"));
  const { found, problems } = await findSkills(["a", "missing", "link"].map((name) => join(base, name)));
  expect(problems).toEqual([]);
  const skills = mergeSkills(found.flatMap(({ skill }) => skill ?? []));
  expect(
    skills.map(({ name, description, source, folder, file }) => [name, description, source, folder, file]),
  ).toEqual([
    ["aaa", "Does aaa.", "dir:0", join(base, "a/aaa"), join(base, "a/aaa/SKILL.md")],
    ["git", "The second.", "dir:2", join(base, "b/git"), join(base, "b/git/SKILL.md")],
  ]);
});

test("one folder is loaded under a label, and sets of skills are merged, the later one with priority [SKL-04.1-2]", async () => {
  const base = await createTemporaryFolder();
  await writeFiles(base, {
    "a/x/SKILL.md": formatSkill("x"),
    "b/x/SKILL.md": formatSkill("x"),
    "b/y/SKILL.md": formatSkill("y"),
  });
  const sets = await Promise.all([
    findSkillsInFolder(join(base, "b"), "team"),
    findSkillsInFolder(join(base, "a"), "mine"),
  ]);
  const [team = [], mine = []] = sets.map(({ found }) => found.flatMap(({ skill }) => skill ?? []));
  const told = (skills: readonly Skill[]) => skills.map(({ name, source }) => `${name} of ${source}`);
  expect(told(mergeSkills(team, mine))).toEqual(["x of mine", "y of team"]);
  expect(told(mergeSkills(mine, team))).toEqual(["x of team", "y of team"]);
  expect(mergeSkills(team, [])).toEqual(team);
});

test("~ is the home, and a relative folder is below the workspace [SKL-03.4]", () => {
  expect(resolveSkillFolder("~/.phi-core/skills", "/w", "/home/me")).toBe("/home/me/.phi-core/skills");
  expect(resolveSkillFolder("~", "/w", "/home/me")).toBe("/home/me");
  expect(resolveSkillFolder("./skills", "/w", "/home/me")).toBe("/w/skills");
  expect(resolveSkillFolder("/skills", "/w", "/home/me")).toBe("/skills");
  expect(resolveSkillFolder("~other/x", "/w", "/home/me")).toBe("/w/~other/x");
});

test("a folder that is itself a skill, and a path that is a file, are reported as such", async () => {
  const base = await createTemporaryFolder();
  await writeFiles(base, { "git/SKILL.md": formatSkill("git"), file: "" });
  const { found, problems } = await findSkills([join(base, "git"), join(base, "file")]);
  expect(found).toEqual([]);
  expect(problems).toEqual([
    expect.stringContaining("git is a skill itself: specify the folder that contains it"),
    expect.stringContaining("file cannot be read: not a directory"),
  ]);
});

test.each<[string, (folder: string, outside: string) => Promise<unknown>, string]>([
  [
    "a link to a file outside",
    (folder, outside) => symlink(join(outside, "SKILL.md"), join(folder, "SKILL.md")),
    "it is a link that leaves the folder of the skill",
  ],
  ["a folder", (folder) => mkdir(join(folder, "SKILL.md")), "it is a directory"],
  [
    "a pipe that nobody writes to",
    async (folder) => spawnSync("mkfifo", [join(folder, "SKILL.md")]),
    "it is not a regular file",
  ],
  [
    "a link to a device",
    (folder) => symlink("/dev/zero", join(folder, "SKILL.md")),
    "it is a link that leaves",
  ],
  [
    "no text",
    (folder) => writeFile(join(folder, "SKILL.md"), Buffer.from([0x2d, 0xff, 0xfe])),
    "it is not UTF-8 text",
  ],
  [
    "no text either",
    (folder) => writeFile(join(folder, "SKILL.md"), "---\nname: bad\0\n---\n"),
    "it is not UTF-8 text",
  ],
  [
    "too large",
    (folder) => writeFile(join(folder, "SKILL.md"), formatSkill("bad", { body: "b".repeat(300_000) })),
    "it has more than 262144 bytes",
  ],
])("a SKILL.md that is %s is rejected [SKL-01.3]", async (_, make, words) => {
  const base = await createTemporaryFolder();
  const outside = await writeFiles(join(base, "outside"), { "SKILL.md": formatSkill("bad") });
  const folder = join(base, "skills/bad");
  await mkdir(folder, { recursive: true });
  await make(folder, outside);
  const { skill, problems } = await loadSkill(folder, "x");
  expect(skill).toBeUndefined();
  expect(problems).toMatchObject([{ fault: "unusable-file", message: expect.stringContaining(words) }]);
  expect((await findSkillsInFolder(join(base, "skills"), "x")).found).toHaveLength(1);
});

test("a link to a skill elsewhere is rejected with the remedy; a link within the folder is followed [SKL-03.1]", async () => {
  const base = await createTemporaryFolder();
  await writeFiles(base, {
    "elsewhere/git/SKILL.md": formatSkill("git"),
    "skills/own/SKILL.md": formatSkill("own"),
  });
  await symlink(join(base, "elsewhere/git"), join(base, "skills/git"));
  await symlink("own", join(base, "skills/again"));
  await symlink("nowhere", join(base, "skills/dangling"));
  const { found } = await findSkillsInFolder(join(base, "skills"), "x");
  expect(found.map(({ skill }) => skill?.name)).toEqual(["own", undefined, "own"]);
  expect(found[1]?.problems[0]?.message).toContain(
    `add the folder that contains ${join(base, "elsewhere/git")} to the skills folders`,
  );
});

test("every file is identified by its hash; links out of the skill and files generated by programs are not part of it", async () => {
  const base = await realpath(await createTemporaryFolder());
  const folder = await writeFiles(join(base, "git"), {
    "SKILL.md": "a",
    "scripts/run.sh": "b",
    "scripts/__pycache__/run.pyc": "c",
    "node_modules/x/index.js": "d",
    "two\nlines": "e",
  });
  await writeFile(join(base, "secret"), "s");
  await symlink("../../secret", join(folder, "scripts/secret"));
  await symlink(base, join(folder, "up"));
  await symlink("SKILL.md", join(folder, "same.md"));
  await symlink("scripts", join(folder, "more"));
  const { files, rejected } = await listSkillFiles(await openRoot(folder));
  expect(files.map(({ path }) => path)).toEqual(["SKILL.md", "same.md", "scripts/run.sh"]);
  expect(files[0]?.hash).toBe("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
  expect(files[1]?.hash).toBe(files[0]?.hash);
  expect(rejected).toEqual([
    "more: it is a directory",
    "scripts/secret: it is a link that leaves the folder of the skill",
    '"two\\nlines": its name is not one line of text',
    "up: it is a link that leaves the folder of the skill",
  ]);
});

type TooLarge = [string, (folder: string) => Promise<unknown>, string];

const TOO_LARGE: readonly TooLarge[] = [
  [
    "files",
    (folder) =>
      writeFiles(folder, Object.fromEntries(Array.from({ length: MAX_FILES + 1 }, (_, n) => [`f${n}`, ""]))),
    "more than 512 files",
  ],
  [
    "bytes",
    (folder) => writeFiles(folder, { a: Buffer.alloc(MAX_BYTES), b: "b" }),
    `more than ${MAX_BYTES} bytes`,
  ],
  ["levels", (folder) => mkdir(join(folder, "a/".repeat(17)), { recursive: true }), "more than 16 levels"],
];

/** Creating thousands of links takes seconds. */
const TOO_MANY_LINKS: readonly TooLarge[] = [
  [
    "links that lead nowhere",
    (folder) => Promise.all(Array.from({ length: 2049 }, (_, n) => symlink("x", join(folder, `l${n}`)))),
    "more than 2048 files and folders",
  ],
];

const TITLE = "a skill with too many %s is too large to be pinned";

async function expectTooLarge(...[, make, words]: TooLarge): Promise<void> {
  const folder = await createTemporaryFolder();
  await make(folder);
  await expect(listSkillFiles(await openRoot(folder))).rejects.toThrow(words);
}

test.each(TOO_LARGE)(TITLE, expectTooLarge);
thoroughTest.each(TOO_MANY_LINKS)(TITLE, expectTooLarge);
