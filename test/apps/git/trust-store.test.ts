import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createGitTools, TrustStore, withRepository } from "../../../src/apps/git/index.ts";
import { SandboxSettings } from "../../../src/schema/sandbox.ts";
import { createRunCommand } from "../../../src/tools/sandbox/run-command.ts";
import { Sandboxes } from "../../../src/tools/sandbox/sandboxes.ts";
import { HOST, NO_SANDBOX } from "../../platform/sandbox/host.ts";
import { describeIf } from "../../support/skipping.ts";
import {
  callForText,
  createContext,
  createTemporaryFolder,
  installProgram,
} from "../../tools/tool-context.ts";

async function createRepository(folder: string, name: string): Promise<string> {
  const top = join(folder, name);
  execFileSync("git", ["init", "--quiet", top]);
  await writeFile(join(top, "pyproject.toml"), "");
  return top;
}

test("a user is asked once about a repository, whatever they answer", async () => {
  const folder = await createTemporaryFolder();
  const [one, other] = [await createRepository(folder, "one"), await createRepository(folder, "other")];
  const asked: string[] = [];
  const ask = async (path: string) => {
    asked.push(path);
    return path === one;
  };
  for (const _ of [1, 2]) {
    const store = new TrustStore(join(folder, "home"));
    expect([await store.resolve(one, ask), await store.resolve(other, ask)]).toEqual([true, false]);
  }
  expect(asked).toEqual([one, other]);
});

test("another repository at the same path is unknown, and so is the same one at another path", async () => {
  const folder = await createTemporaryFolder();
  const top = await createRepository(folder, "one");
  const store = new TrustStore(join(folder, "home"));
  await store.store(top, true);
  expect(await store.read(top)).toBe("trusted");
  await rename(top, join(folder, "moved"));
  expect(await store.read(join(folder, "moved"))).toBe("unknown");
  await createRepository(folder, "one");
  expect(await store.read(top)).toBe("unknown");
  await rm(top, { recursive: true });
  await rename(join(folder, "moved"), top);
  expect(await store.read(top)).toBe("trusted");
});

test("linters run in a trusted repository only, and their machine output is read", async () => {
  const folder = await createTemporaryFolder();
  const top = await createRepository(folder, "one");
  const home = join(folder, "home");
  await writeFile(join(top, "a.py"), "import os\n");
  const found = {
    code: "F401",
    message: "`os` imported but unused",
    filename: join(top, "a.py"),
    location: { row: 1 },
  };
  await installProgram("ruff", `touch ${folder}/has-run; echo '${JSON.stringify([found])}'`);
  const { core } = createGitTools({ home });
  const tool = core.find(({ name }) => name === "static_analysis");
  if (tool === undefined) throw new Error("no static analysis");
  await expect(callForText(tool, {}, createContext(top))).rejects.toThrow("Static analysis is off");
  await new TrustStore(home).store(top, true);
  const context = createContext(top);
  expect(await callForText(tool, { files: ["a.py"] }, context)).toBe(
    "ruff: 1 findings\n  a.py:1 warning F401: `os` imported but unused",
  );
  expect(context.groups).toHaveLength(1);
});

describeIf(HOST.able, NO_SANDBOX)("linters in a sandbox", () => {
  /** The tool, and a context as a worker has it for a tool that only reads. */
  async function trust(top: string, readable: readonly string[] = []) {
    const home = await createTemporaryFolder();
    await new TrustStore(home).store(top, true);
    const tool = createGitTools({ home }).core.find(({ name }) => name === "static_analysis");
    if (tool === undefined) throw new Error("no static analysis");
    expect(tool).toMatchObject({ replay: "pure", processes: "sandboxed" });
    const settings = SandboxSettings.parse({ mode: "workspace", readable });
    const sandboxes = new Sandboxes({ fallback: settings, holdfastHome: home, environment: {} });
    const context = createContext(top);
    const openSandbox = async () => await sandboxes.open({ settings, workspace: top, isReadOnly: true });
    const runCommand = createRunCommand({ ...context, openSandbox });
    return async () => await callForText(tool, {}, { ...context, runCommand });
  }

  test("biome reads the repository", async () => {
    const top = await createRepository(await createTemporaryFolder(), "one");
    await rm(join(top, "pyproject.toml"));
    await writeFile(join(top, "biome.json"), "{}");
    await writeFile(join(top, "a.js"), "debugger;\n");
    await mkdir(join(top, "node_modules/.bin"), { recursive: true });
    // A copy: the sandbox contains no other folder that may be in the one for temporary files.
    const installed = join(process.cwd(), "node_modules/@biomejs");
    await cp(await realpath(installed), join(top, "node_modules/@biomejs"), { recursive: true });
    await symlink("../@biomejs/biome/bin/biome", join(top, "node_modules/.bin/biome"));
    expect(await (await trust(top))()).toMatch(/^biome: 1 findings\n {2}a\.js:1 error .*noDebugger/);
  });

  test("one that writes gets a folder of its own, and cannot change the repository", async () => {
    const top = await createRepository(await createTemporaryFolder(), "one");
    await rm(join(top, "pyproject.toml"));
    await writeFile(join(top, "Cargo.toml"), "");
    const message = {
      level: "warning",
      message: "unused",
      code: null,
      spans: [{ file_name: "a.rs", line_start: 3, is_primary: true }],
    };
    const line = JSON.stringify({ reason: "compiler-message", message });
    const program = await installProgram(
      "cargo",
      `touch ./changed ../changed && exit 1; touch "$CARGO_TARGET_DIR/built" && echo '${line}'`,
    );
    const run = await trust(top, [dirname(program)]);
    expect(await run()).toBe("clippy: 1 findings\n  a.rs:3 warning rustc: unused");
    expect(existsSync(join(top, "changed"))).toBe(false);
  });
});

test("a trusted repository may borrow objects from another folder", async () => {
  const folder = await createTemporaryFolder();
  const top = await createRepository(folder, "one");
  execFileSync("git", ["clone", "--quiet", "--shared", top, "shared"], { cwd: folder, stdio: "ignore" });
  const shared = join(folder, "shared");
  await expect(withRepository(shared, {}, async () => "read")).rejects.toThrow("borrows objects");
  expect(await withRepository(shared, { isTrusted: true }, async () => "read")).toBe("read");
});
