import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const CLI = resolve(import.meta.dirname, "../../dist/apps/cli/main.js");

/** Records the address of every module that is imported. */
const HOOKS = `
import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, url + "\\n");
  return next(url, context);
}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-start-"));
  await writeFile(join(folder, "hooks.mjs"), HOOKS);
  const hooks = JSON.stringify(pathToFileURL(join(folder, "hooks.mjs")).href);
  await writeFile(
    join(folder, "register.mjs"),
    `import { register } from "node:module"; register(${hooks});`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command line, and returns the packages and the number of own files that it imports. */
async function listLoaded(name: string, exitCode: number, ...args: string[]) {
  const record = join(folder, name);
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--import", pathToFileURL(join(folder, "register.mjs")).href, CLI, ...args],
    { encoding: "utf8", env: { ...process.env, LOADED_MODULES: record } },
  );
  expect(status).toBe(exitCode);
  const urls = (await readFile(record, "utf8")).split("\n");
  const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  const own = urls.filter((url) => url.includes("/dist/"));
  return { stdout, packages: [...new Set(packages)], files: own.length };
}

test("holdfast --help loads the table of commands and the parser of options, no command", async () => {
  const { stdout, packages, files } = await listLoaded("root", 0, "--help");
  expect(stdout).toContain("Usage: holdfast");
  expect(packages).toEqual(["commander"]);
  expect(files).toBeLessThan(40);
});

test("holdfast status connects with the packages of Temporal, without zod and the code of other operations", async () => {
  const { packages, files } = await listLoaded("status", 3, "status", "s", "--address", "127.0.0.1:1");
  expect(packages).toEqual(
    expect.arrayContaining(["commander", "@temporalio/client", "@temporalio/envconfig"]),
  );
  expect(packages.filter((name) => !/^(commander$|@temporalio\/)/.test(name))).toEqual([]);
  expect(files).toBeLessThanOrEqual(100);
});

/** A process that has this module warns just before it exits. */
const WARNING = `data:text/javascript,${encodeURIComponent(`
  const exit = process.exit;
  process.exit = (code) => {
    process.emitWarning("Node says something.");
    setImmediate(() => exit(code));
  };
`)}`;

test.each([
  ["", false],
  ["1", true],
])("with HOLDFAST_DEBUG=%s, whether Node's warnings are printed: %s", (debug, isPrinted) => {
  const { status, stderr } = spawnSync(process.execPath, ["--import", WARNING, CLI, "--version"], {
    encoding: "utf8",
    env: { ...process.env, HOLDFAST_DEBUG: debug },
  });
  expect(status).toBe(0);
  expect(stderr.includes("Node says something.")).toBe(isPrinted);
});
