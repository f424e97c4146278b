import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { HostProbe } from "../../../src/platform/sandbox/probe-host.ts";
import { SandboxSettings, type SandboxSettingsInput } from "../../../src/schema/sandbox.ts";
import { createBashTool } from "../../../src/tools/builtin/bash-tool.ts";
import { createRunCommand } from "../../../src/tools/sandbox/run-command.ts";
import { Sandboxes, SandboxUnavailableError, type SandboxUse } from "../../../src/tools/sandbox/sandboxes.ts";
import type { ToolContext } from "../../../src/tools/tool-execution.ts";
import { HOST, NO_SANDBOX } from "../../platform/sandbox/host.ts";
import { describeIf } from "../../support/skipping.ts";
import { callForText, createContext, createTemporaryFolder } from "../tool-context.ts";

const bash = createBashTool();

const HOST_PROGRAMS = { bwrap: "/usr/bin/bwrap", setsid: "/usr/bin/setsid", prlimit: "/usr/bin/prlimit" };

function createSandboxes(probe?: () => Promise<HostProbe>): Sandboxes {
  return new Sandboxes({
    fallback: SandboxSettings.parse({ mode: "workspace" }),
    holdfastHome: join(tmpdir(), `holdfast-sandboxes-${process.pid}`, "home"),
    environment: { GIVEN: "a value", OTHER: "another value" },
    ...(probe && { probe }),
  });
}

afterAll(() => rm(join(tmpdir(), `holdfast-sandboxes-${process.pid}`), { recursive: true, force: true }));

/** Shared, because each of them tries the forbidden acts in each profile. */
const shared = createSandboxes();

/** Runs scripts with bash, as a call does. */
async function openShell(settings: SandboxSettingsInput, more: Partial<SandboxUse> = {}) {
  const workspace = more.workspace ?? (await createTemporaryFolder());
  const use = { settings: SandboxSettings.parse(settings), workspace, ...more };
  const opened = await shared.open(use);
  const context = createContext(workspace, {
    runCommand(this: ToolContext, command) {
      return createRunCommand({ ...this, openSandbox: async () => opened })(command);
    },
  });
  return {
    workspace,
    run: (command: string) => callForText(bash, { command }, context),
    getReport: () => opened.recorder.getReport(),
  };
}

describeIf(HOST.able, NO_SANDBOX)("bash in a sandbox", () => {
  test("writes the workspace, and nothing else of the host", async () => {
    const outside = await createTemporaryFolder();
    const { workspace, run, getReport } = await openShell({ mode: "workspace" });
    expect(await run("echo inside > file; cat file; id -un")).toContain("Exit code: 0\ninside");
    expect(await readFile(join(workspace, "file"), "utf8")).toBe("inside\n");
    expect(await run(`echo evil > ${outside}/file`)).not.toContain("Exit code: 0");
    expect(await readdir(outside)).toEqual([]);
    // Only the first test of the file has tried the forbidden acts.
    expect(getReport()).toEqual({ mode: "workspace", selfTest: { prevented: 12, of: 12 } });
  });

  test("reaches nothing outside by a program that runs or writes for another", async () => {
    const outside = await createTemporaryFolder();
    const { workspace, run } = await openShell({ mode: "workspace" });
    await writeFile(join(workspace, "package.json"), `{"scripts": {"evil": "touch ${outside}/npm"}}`);
    await writeFile(join(workspace, "a.txt"), "text\n");
    const commands = [
      `awk 'BEGIN{system("touch ${outside}/awk")}'`,
      `sed '1e touch ${outside}/sed' a.txt`,
      `tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch ${outside}/tar' a.txt`,
      `tee ${outside}/tee < a.txt`,
      `cp a.txt ${outside}/cp`,
      `find . -exec touch ${outside}/find \\;`,
      `echo ${outside}/xargs | xargs touch`,
      `perl -e 'open(F, ">${outside}/perl")'`,
      `git -c core.pager='touch ${outside}/git' --paginate help -a`,
      `env touch ${outside}/env`,
      `(setsid nohup sh -c 'sleep 0.1; touch ${outside}/later' &)`,
      `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c ^VITEST`,
      `npm run --silent evil`,
    ];
    expect(await run(commands.join(" 2>&1; "))).not.toMatch(/^[1-9][0-9]*$/m);
    expect(await readdir(outside)).toEqual([]);
  });

  test("does not see other processes, the home folder, or a variable that is not its own", async () => {
    const home = await createTemporaryFolder();
    await writeFile(join(home, "secret"), "of the user\n");
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { run } = await openShell({ mode: "workspace", env: ["GIVEN"] });
    expect(await run(`ls -A ${home} ~ | grep secret`)).toBe("Exit code: 1\n");
    expect(await run("ls -d /proc/[0-9]* | wc -l")).toMatch(/^Exit code: 0\n[1-6]\n$/);
    expect(await run(`echo "$GIVEN, $OTHER"`)).toBe("Exit code: 0\na value, \n");
  });

  test("only reads the workspace where the tool is pure, and says so", async () => {
    const { workspace, run, getReport } = await openShell({ mode: "workspace" }, { isReadOnly: true });
    await writeFile(join(workspace, "file"), "text\n");
    expect(await run("cat file")).toBe("Exit code: 0\ntext\n");
    expect(await run("echo more >> file")).toContain("Read-only file system");
    expect(getReport()).toMatchObject({ mode: "workspace", isReadOnly: true });
  });

  test("has the exit code of the command, and 128 and its number for a signal", async () => {
    const { run } = await openShell({ mode: "strict" });
    expect(await run("exit 7")).toMatch(/^Exit code: 7\n/);
    expect(await run("kill -TERM $$")).toMatch(/^Exit code: 143\n/);
  });

  test("is ended by its time limit with SIGTERM first", async () => {
    const workspace = await createTemporaryFolder();
    const settings = SandboxSettings.parse({ mode: "workspace" });
    const context = createContext(workspace, {
      runCommand(this: ToolContext, command) {
        const openSandbox = () => shared.open({ settings, workspace });
        return createRunCommand({ ...this, openSandbox })(command);
      },
    });
    const limited = createBashTool({ timeoutMs: 1_500, graceMs: 20_000 });
    const command = "trap 'echo ended > ended; exit' TERM; while :; do sleep 0.05; done";
    await expect(callForText(limited, { command }, context)).rejects.toThrow("timed out after 1.5s");
    expect(await readFile(join(workspace, "ended"), "utf8")).toBe("ended\n");
  });

  test("cannot leave a file that programs outside obey: it is renamed", async () => {
    const { workspace, run, getReport } = await openShell({ mode: "workspace" });
    await run(`echo '{"mcpServers": {}}' > .mcp.json; echo 'touch /tmp/evil' > .bashrc; echo fine > fine`);
    expect((await readdir(workspace)).sort()).toEqual([".bashrc.denied", ".mcp.json.denied", "fine"]);
    expect(
      getReport()
        .moved?.map(({ path }) => path)
        .sort(),
    ).toEqual([join(workspace, ".bashrc"), join(workspace, ".mcp.json")]);
  });

  test("cannot replace a link to such a file", async () => {
    const { workspace, run } = await openShell({ mode: "workspace" });
    await writeFile(join(workspace, "real"), "real\n");
    await symlink("real", join(workspace, ".bashrc"));
    await run("rm .bashrc; echo evil > .bashrc");
    expect(await readFile(join(workspace, ".bashrc"), "utf8")).toBe("real\n");
  });

  test("makes a repository that stays, but no hook and no command in its configuration", async () => {
    const { workspace, run } = await openShell({ mode: "workspace" });
    await run(
      "git init -q . && git config user.name A && git config user.email a@example.com && git commit -q --allow-empty -m one",
    );
    expect(await readFile(join(workspace, ".git/config"), "utf8")).toContain("name = A");
    const other = await openShell({ mode: "workspace" });
    await other.run("git init -q . && git config core.fsmonitor 'touch /tmp/evil'");
    expect(await readdir(join(other.workspace, ".git"))).toContain("config.denied");
    const third = await openShell({ mode: "workspace" });
    await third.run("git init -q . && echo 'touch /tmp/evil' > .git/hooks/pre-commit");
    expect(await readdir(join(third.workspace, ".git"))).toContain("hooks.denied");
  });

  test("reads programs that are installed in the home folder, where they are on PATH", async () => {
    const { run } = await openShell({ mode: "workspace" });
    expect(await run(`${process.execPath} -p 6*7`)).toBe("Exit code: 0\n42\n");
  });

  test("does not start where a folder of the settings does not exist", async () => {
    const { run } = await openShell({ mode: "workspace", readable: ["/no/such/folder"] });
    await expect(run("echo never")).rejects.toThrow(
      "Failed to execute: The sandbox cannot contain /no/such/folder: ENOENT",
    );
  });

  test("does not start in a workspace within Holdfast's own folder", async () => {
    const holdfastHome = await createTemporaryFolder();
    const workspace = join(holdfastHome, "workspace");
    await mkdir(workspace);
    const settings = SandboxSettings.parse({ mode: "workspace" });
    const inside = new Sandboxes({ fallback: settings, holdfastHome, environment: {} });
    const context = createContext(workspace, {
      runCommand(this: ToolContext, command) {
        return createRunCommand({ ...this, openSandbox: () => inside.open({ settings, workspace }) })(
          command,
        );
      },
    });
    await expect(callForText(bash, { command: "true" }, context)).rejects.toThrow("Holdfast's own folder");
  });
});

describe("without a sandbox", () => {
  test("a command runs where `off` is written", async () => {
    const { run, getReport } = await openShell({ mode: "off", env: ["GIVEN"] });
    expect(await run("echo $GIVEN")).toBe("Exit code: 0\na value\n");
    expect(getReport()).toEqual({ mode: "off" });
  });

  test("no command runs on a host that cannot make one, and the error says what to do", async () => {
    const unable: HostProbe = {
      able: false,
      obstacle: "absent",
      attempt: "looked for bwrap in /usr/bin",
      answer: "not found",
      remedy: "Install bubblewrap.",
    };
    const sandboxes = createSandboxes(async () => unable);
    const workspace = await createTemporaryFolder();
    const settings = sandboxes.getSettings(undefined);
    await expect(sandboxes.check(settings)).rejects.toThrow(SandboxUnavailableError);
    const context = createContext(workspace, {
      runCommand(this: ToolContext, command) {
        return createRunCommand({ ...this, openSandbox: () => sandboxes.open({ settings, workspace }) })(
          command,
        );
      },
    });
    await expect(callForText(bash, { command: "echo evil > file" }, context)).rejects.toThrow(
      'The sandbox "workspace" cannot be used on this worker\'s host: looked for bwrap in /usr/bin, and got: not found. Install bubblewrap.',
    );
    expect(await readdir(workspace)).toEqual([]);
  });

  test("a host that has been mended is probed again", async () => {
    let probes = 0;
    const sandboxes = createSandboxes(async () => {
      probes += 1;
      if (probes > 1) return { able: true, programs: HOST_PROGRAMS, controllers: [] };
      return { able: false, obstacle: "absent", attempt: "a", answer: "b", remedy: "c" };
    });
    const settings = sandboxes.getSettings(undefined);
    await expect(sandboxes.check(settings)).rejects.toThrow(SandboxUnavailableError);
    await sandboxes.check(settings);
    await sandboxes.check(settings);
    expect(probes).toBe(2);
  });
});
