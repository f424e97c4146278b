import { execFileSync } from "node:child_process";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createGitTools, TrustStore, withRepository } from "../../../src/apps/git/index.ts";
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

test("a trusted repository may borrow objects from another folder", async () => {
  const folder = await createTemporaryFolder();
  const top = await createRepository(folder, "one");
  execFileSync("git", ["clone", "--quiet", "--shared", top, "shared"], { cwd: folder, stdio: "ignore" });
  const shared = join(folder, "shared");
  await expect(withRepository(shared, {}, async () => "read")).rejects.toThrow("borrows objects");
  expect(await withRepository(shared, { isTrusted: true }, async () => "read")).toBe("read");
});
