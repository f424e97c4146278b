import { rm, symlink, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExecutableTool } from "../../src/tools/tool.ts";
import { callForText, callTool, createContext, createTemporaryFolder } from "../tools/tool-context.ts";
import { createReader, formatSkill, writeFiles } from "./skill-folders.ts";

const PNG = Buffer.from("89504e470d0a1a0a", "hex");

async function stocked() {
  const base = await createTemporaryFolder();
  const skill = await writeFiles(join(base, "skills/git"), {
    "SKILL.md": formatSkill("git", { body: "Run `sh {baseDir}/scripts/diff.sh` in {baseDir}." }),
    "scripts/diff.sh": "echo {baseDir}\n",
    "references/long.md": Array.from({ length: 40_000 }, (_, n) => `line ${n + 1}`).join("\n"),
    "assets/logo.png": PNG,
    "assets/photo.png": "a picture will be here",
    "assets/font.ttf": Buffer.from([0, 1, 0, 0]),
  });
  await writeFile(join(base, "secret"), "SECRET");
  const tool = await createReader([join(base, "skills")], base);
  return { base, skill, tool, context: createContext(base) };
}

const refusal = (tool: ExecutableTool, parameters: unknown, base: string) =>
  callTool(tool, parameters, createContext(base)).then(
    () => "it was given",
    (error: Error) => error.message,
  );

describe("a skill is read", () => {
  test("as its instructions, with its own folder and the names of its other files [SKL-06.2, SKL-06.5]", async () => {
    const { tool, skill, context } = await stocked();
    expect(tool).toMatchObject({ name: "read_skill", replay: "pure", quick: true });
    const text = await callForText(tool, { name: "git" }, context);
    expect(text).toBe(
      `Run \`sh ${skill}/scripts/diff.sh\` in ${skill}.\n\n[Folder of this skill: ${skill}\n` +
        "Other files: assets/font.ttf, assets/logo.png, assets/photo.png, references/long.md, scripts/diff.sh]",
    );
    expect(await callForText(tool, { name: "git", path: "SKILL.md" }, context)).toBe(text);
  });

  test("file by file, by relative and by full path, as the files are [SKL-06.3]", async () => {
    const { tool, skill, context } = await stocked();
    for (const path of ["scripts/diff.sh", "./scripts/../scripts/diff.sh", join(skill, "scripts/diff.sh")]) {
      expect(await callForText(tool, { name: "git", path }, context)).toBe("echo {baseDir}\n");
    }
    const { content } = await callTool(tool, { name: "git", path: "assets/logo.png" }, context);
    expect(content).toEqual([
      { type: "image", mimeType: "image/png", data: PNG.toString("base64"), name: "logo.png" },
    ]);
    const named = await callTool(tool, { name: "git", path: "assets/photo.png" }, context);
    expect(named.content).toEqual([{ type: "text", text: "a picture will be here" }]);
  });

  test("in parts if a file is long", async () => {
    const { tool, base, context } = await stocked();
    const path = "references/long.md";
    expect(await refusal(tool, { name: "git", path }, base)).toContain("Use offset and limit");
    expect(await callForText(tool, { name: "git", path, offset: 39_999, limit: 9 }, context)).toBe(
      "[Lines 39999-40000 of 40000]\nline 39999\nline 40000",
    );
    expect(await refusal(tool, { name: "git", path, offset: 40_001 }, base)).toContain(
      "the file has 40000 lines",
    );
  });

  test("with an error that lists the files if it cannot be read", async () => {
    const { tool, base, skill } = await stocked();
    expect(await refusal(tool, { name: "gti" }, base)).toBe('There is no skill "gti". Did you mean "git"?');
    expect(await refusal(tool, { name: "git", path: "x.md" }, base)).toContain(
      "Its files are SKILL.md, assets/font.ttf",
    );
    expect(await refusal(tool, { name: "git", path: "assets/font.ttf" }, base)).toBe(
      `assets/font.ttf is not text (4 bytes); programs can read it at ${skill}/assets/font.ttf`,
    );
  });
});

describe("reading is confined to the folder of the skill", () => {
  test.each(["../../secret", "scripts/../../../secret", "/etc/passwd", "..", ".", "scripts", "a\0b", ""])(
    "against %j [SKL-06.3]",
    async (path) => {
      const { tool, base } = await stocked();
      expect(await refusal(tool, { name: "git", path }, base)).toMatch(
        /is outside the skill's folder|had no file/,
      );
    },
  );

  test("against any path of names, dots and slashes: only pinned files are returned", async () => {
    const { tool, base } = await stocked();
    const step = fc.constantFrom(
      "..",
      ".",
      "",
      "scripts",
      "diff.sh",
      "secret",
      "git",
      "SKILL.md",
      "~",
      "%2e%2e",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 8 }),
        fc.constantFrom("", "/", base),
        async (steps, begin) => {
          const path = begin + steps.join("/");
          const said = await refusal(tool, { name: "git", path }, base);
          if (said === "it was given") expect(posix.normalize(path)).toMatch(/(diff\.sh|SKILL\.md)\/?$/);
          else expect(said).not.toContain("SECRET");
        },
      ),
    );
  });

  test("against a link that was added after pinning, and against a modified file [SKL-06.4]", async () => {
    const { tool, base, skill } = await stocked();
    const script = join(skill, "scripts/diff.sh");
    await writeFile(script, "echo other");
    const asked = { name: "git", path: "scripts/diff.sh" };
    expect(await refusal(tool, asked, base)).toBe(
      "The skill git has changed since this run began: scripts/diff.sh has changed. The new version takes effect with the next prompt. Continue without it.",
    );
    await rm(script);
    expect(await refusal(tool, asked, base)).toContain("no such file or directory");
    await symlink(join(base, "secret"), script);
    expect(await refusal(tool, asked, base)).toContain("it is a link that leaves the folder of the skill");
    await writeFile(join(skill, "new.md"), "new");
    expect(await refusal(tool, { name: "git", path: "new.md" }, base)).toContain(
      "had no file new.md when this run began",
    );
    await rm(skill, { recursive: true });
    expect(await refusal(tool, { name: "git" }, base)).toMatch(
      /has changed since this run began: SKILL.md can no longer be read/,
    );
  });
});

test("path rules see which file a call reads", async () => {
  const { tool, skill } = await stocked();
  expect(tool.touches({ name: "git" })).toEqual({ paths: [join(skill, "SKILL.md")] });
  expect(tool.touches({ name: "git", path: "scripts/diff.sh" })).toEqual({
    paths: [join(skill, "scripts/diff.sh")],
  });
  expect(tool.touches({ name: "git", path: "../x" })).toEqual({ paths: [skill] });
  expect(tool.touches({ name: "other" })).toEqual({});
  expect(tool.summarise({ name: "git", path: "x" })).toBe("git x");
});
