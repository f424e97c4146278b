import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSkills } from "../../src/tools/sources/skills/check-skills.ts";
import { SkillSource } from "../../src/tools/sources/skills/skill-source.ts";
import { loadDefinitions } from "../config/agent-files.ts";
import { pinSkills, writeFiles } from "../skills/skill-folders.ts";
import { callForText, createContext, createTemporaryFolder } from "../tools/tool-context.ts";

const page = readFileSync(new URL("../../docs/skills.md", import.meta.url), "utf8");
const block = (language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";

test("the skill and the agent of docs/skills.md do what the page states [SKL-01.1-2, SKL-06.2-3, DOC-04.1]", async () => {
  const home = await createTemporaryFolder();
  const folder = await writeFiles(join(home, "skills"), {
    "review/SKILL.md": block("markdown"),
    "review/scripts/changed.sh": "git diff --name-only\n",
    "review/references/rules.md": "Small functions.\n",
  });
  const { skills, problems } = await checkSkills(folder);
  expect([problems, skills.map((one) => one.problems)]).toEqual([[], [[]]]);
  const [agent] = Object.values(loadDefinitions(block("toml"), { env: { ANTHROPIC_API_KEY: "k" } }));
  expect(agent?.skills).toMatchObject({ folders: ["~/.holdfast/skills", "./skills"], names: ["review"] });
  const asked = { ...agent!, skills: { ...agent!.skills!, folders: [folder] } };
  const { tools, prompt, rules, warnings } = await pinSkills(asked, join(home, "workspace"));
  expect(warnings).toEqual([]);
  expect(prompt).toContain("<name>review</name>");
  expect(rules).toMatchObject([{ tool: ["read_file", "search"] }, { tool: "bash", command: ["git diff"] }]);
  const read = new SkillSource().createTool(tools![0]!);
  const context = createContext(home);
  expect(await callForText(read, { name: "review" }, context)).toContain(
    `sh ${folder}/review/scripts/changed.sh`,
  );
  expect(await callForText(read, { name: "review", path: "references/rules.md" }, context)).toBe(
    "Small functions.\n",
  );
});
