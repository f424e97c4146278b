import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { findSkillFolders } from "../../src/activities/tool/skill-folders.ts";
import { SandboxSettings } from "../../src/schema/sandbox.ts";
import { SkillSettings } from "../../src/schema/skills.ts";
import { createRunCommand } from "../../src/tools/sandbox/run-command.ts";
import { Sandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import { HOST, NO_SANDBOX } from "../platform/sandbox/host.ts";
import { describeIf } from "../support/skipping.ts";
import { createContext, createTemporaryFolder } from "../tools/tool-context.ts";

/** A user's home folder and a workspace, with skills at all places where they may be. */
async function stage() {
  const root = await createTemporaryFolder();
  const [home, workspace] = [join(root, "home"), join(root, "workspace")];
  const folders = {
    holdfast: join(home, ".holdfast/skills"),
    home: join(home, "skills"),
    beside: join(root, "skills"),
    inside: join(workspace, ".agents/skills"),
  };
  for (const [name, folder] of Object.entries(folders)) {
    await mkdir(join(folder, "one"), { recursive: true });
    await writeFile(join(folder, "one/run.sh"), `echo "run from ${name}"`);
  }
  await writeFile(join(home, ".holdfast/transcript.db"), "secret");
  await writeFile(join(home, "letter"), "secret");
  vi.stubEnv("HOME", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const skills = SkillSettings.parse({
    folders: ["~/.holdfast/skills", "~/skills", "../skills", ".agents/skills", "~/absent"],
  });
  return { home, workspace, folders, skills };
}

test("the folders of skills are those that exist outside of the workspace", async () => {
  const { workspace, folders, skills } = await stage();
  const found = await findSkillFolders({ skills }, workspace);
  expect(found).toEqual([folders.holdfast, folders.home, folders.beside]);
  expect(await findSkillFolders({}, workspace)).toEqual([]);
});

describeIf(HOST.able, NO_SANDBOX)("commands in a sandbox", () => {
  test.each(["workspace", "strict"] as const)("run the scripts of skills, in mode %s", async (mode) => {
    const { home, workspace, folders, skills } = await stage();
    const settings = SandboxSettings.parse({ mode });
    const holdfastHome = join(home, ".holdfast");
    const sandboxes = new Sandboxes({ fallback: settings, holdfastHome, environment: {} });
    const readable = await findSkillFolders({ skills }, workspace);
    const openSandbox = async () => await sandboxes.open({ settings, workspace, readable });
    const context = createContext(workspace);
    const run = async (script: string) => {
      const { stdout, stderr } = await createRunCommand({ ...context, openSandbox })({
        command: "/bin/sh",
        args: ["-c", script],
      });
      return stdout + stderr;
    };
    for (const [name, folder] of Object.entries(folders)) {
      expect(await run(`sh ${folder}/one/run.sh`)).toBe(`run from ${name}\n`);
    }
    expect(await run("sh ~/.holdfast/skills/one/run.sh")).toBe("run from holdfast\n");
    expect(await run(`ls -A ${holdfastHome}`)).toBe("skills\n");
    expect(await run(`cat ${home}/letter`)).toContain("No such file");
    expect(await run(`touch ${folders.home}/one/new`)).toContain("Read-only file system");
    expect(await run(`touch ${folders.inside}/one/new`)).toBe("");
  });
});
