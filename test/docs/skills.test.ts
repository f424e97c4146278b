import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSkills } from "../../src/tools/sources/skills/check.ts";
import { SkillSource } from "../../src/tools/sources/skills/skill-source.ts";
import { definitions } from "../config/files.ts";
import { pin, written } from "../skills/folders.ts";
import { contextIn, temporaryFolder, textOf } from "../tools/workspace.ts";

const page = readFileSync(new URL("../../docs/skills.md", import.meta.url), "utf8");
const block = (language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";

test("the skill and the agent of docs/skills.md do what the page says [SKL-01, SKL-06, DOC-04]", async () => {
  const home = await temporaryFolder();
  const folder = await written(join(home, "skills"), {
    "review/SKILL.md": block("markdown"),
    "review/scripts/changed.sh": "git diff --name-only\n",
    "review/references/rules.md": "Small functions.\n",
  });
  const { skills, problems } = await checkSkills(folder);
  expect([problems, skills.map((one) => one.problems)]).toEqual([[], [[]]]);
  const [agent] = Object.values(definitions(block("toml"), { env: { ANTHROPIC_API_KEY: "k" } }));
  expect(agent?.skills).toMatchObject({ folders: ["~/.holdfast/skills", "./skills"], names: ["review"] });
  const asked = { ...agent!, skills: { ...agent!.skills!, folders: [folder] } };
  const { tools, prompt, rules, warnings } = await pin(asked, join(home, "workspace"));
  expect(warnings).toEqual([]);
  expect(prompt).toContain("<name>review</name>");
  expect(rules).toMatchObject([{ tool: ["read_file", "search"] }, { tool: "bash", command: ["git diff"] }]);
  const read = new SkillSource().tool(tools![0]!);
  const context = contextIn(home);
  expect(await textOf(read, { name: "review" }, context)).toContain(`sh ${folder}/review/scripts/changed.sh`);
  expect(await textOf(read, { name: "review", path: "references/rules.md" }, context)).toBe(
    "Small functions.\n",
  );
});
