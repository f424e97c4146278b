import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { thoroughTest } from "./support/test-depth.ts";

const SCRIPTS = resolve(import.meta.dirname, "../scripts");

let root: string;

/** A small project with our setup scripts, and a build and an npm that only record that they ran. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-setup-"));
  await mkdir(join(root, "scripts"));
  for (const name of [
    "setup.mjs",
    "build-stamp.mjs",
    "remove-blanks.mjs",
    "bundled-packages.json",
    "bundled-packages.mjs",
    "declarations.mjs",
  ])
    await copyFile(join(SCRIPTS, name), join(root, "scripts", name));
  await write("src/a.ts", "export const a = 1;");
  await write("tsconfig.json", "{}");
  await write("tsconfig.build.json", "{}");
  await write("package.json", "{}");
  await lock({ "node_modules/one": { version: "1.0.0" } });
  await write(
    "scripts/build.mjs",
    `import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
     import { BUILD_STAMP, hashSources } from "./build-stamp.mjs";
     appendFileSync("ran", "build\\n");
     if (process.env.BUILD_FAILS) process.exit(2);
     mkdirSync("dist/devserver", { recursive: true });
     writeFileSync("dist/devserver/fetch-main.js", 'import { appendFileSync } from "node:fs"; appendFileSync("ran", "fetch\\\\n"); process.exitCode = process.env.FETCH_FAILS ? 1 : 0;');
     writeFileSync(BUILD_STAMP, hashSources(process.cwd()));`,
  );
  await write(
    "npm-cli.js",
    `const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
     appendFileSync("ran", "npm " + process.argv[2] + "\\n");
     if (process.env.NPM_FAILS) { console.error("registry refused"); process.exit(1); }
     const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
     for (const path of Object.keys(packages)) if (path !== "") { mkdirSync(path, { recursive: true }); writeFileSync(path + "/package.json", "{}"); }
     const { "": _root, ...installed } = packages;
     writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: installed }));`,
  );
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

function lock(packages: Record<string, unknown>): Promise<void> {
  return write("package-lock.json", JSON.stringify({ packages: { "": {}, ...packages } }));
}

function environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH = "" } = process.env;
  return {
    PATH,
    npm_execpath: join(root, "npm-cli.js"),
    HOLDFAST_CACHE: join(root, "cache"),
    HOLDFAST_TEMPORAL: "/named/by/the/user",
    ...extra,
  };
}

function setUp(extra: Record<string, string> = {}, ...args: string[]): SpawnSyncReturns<string> {
  const script = join(root, "scripts", "setup.mjs");
  return spawnSync(process.execPath, [script, ...args], { env: environment(extra), encoding: "utf8" });
}

function ran(): string[] {
  const file = join(root, "ran");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

test("a fresh folder gets packages and a build, and reports it", () => {
  const { status, stderr } = setUp();
  expect(status).toBe(0);
  expect(ran()).toEqual(["npm ci", "build"]);
  expect(stderr).toContain("installing packages");
  expect(stderr).toContain("building");
});

test("a second run does nothing and prints nothing", () => {
  setUp();
  const { status, stdout, stderr } = setUp();
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(ran()).toHaveLength(2);
});

test("changed sources are built again, packages are left alone", async () => {
  setUp();
  await write("src/a.ts", "export const a = 2;");
  setUp();
  expect(ran()).toEqual(["npm ci", "build", "build"]);
});

thoroughTest("a deleted source is noticed", async () => {
  await write("src/b.ts", "export const b = 1;");
  setUp();
  await rm(join(root, "src/b.ts"));
  setUp();
  expect(ran().filter((line) => line === "build")).toHaveLength(2);
});

test("a changed lock file triggers an installation", async () => {
  setUp();
  await lock({ "node_modules/one": { version: "1.0.1" } });
  setUp({}, "packages");
  expect(ran()).toEqual(["npm ci", "build", "npm ci"]);
});

test("a package that was deleted by hand is noticed if the record of the last setup is missing too", async () => {
  setUp();
  await rm(join(root, "node_modules/.holdfast-setup"));
  await rm(join(root, "node_modules/one"), { recursive: true });
  setUp({}, "packages");
  expect(ran()).toEqual(["npm ci", "build", "npm ci"]);
});

test("packages installed by hand from the same lock file are accepted as they are", () => {
  spawnSync(process.execPath, [join(root, "npm-cli.js"), "install"], { cwd: root });
  setUp({}, "packages");
  expect(ran()).toEqual(["npm install"]);
});

test("a linked folder of packages is left alone, because an installation would empty it", async () => {
  await mkdir(join(root, "elsewhere"));
  await symlink(join(root, "elsewhere"), join(root, "node_modules"));
  const { status, stderr } = setUp();
  expect(status).toBe(1);
  expect(stderr).toMatch(/node_modules is a link to .*elsewhere.*What to do: remove the link/s);
  expect(ran()).toEqual([]);
});

test("the server is fetched if none is specified and the cache is empty", () => {
  setUp({ HOLDFAST_TEMPORAL: "" });
  expect(ran()).toEqual(["npm ci", "build", "fetch"]);
});

test.each([
  ["npm ci", { NPM_FAILS: "1" }, /npm ci: exit code 1[\s\S]*What to do: check that npm reaches its registry/],
  ["the build", { BUILD_FAILS: "1" }, /scripts\/build\.mjs: exit code 2[\s\S]*What to do:/],
  [
    "the server",
    { FETCH_FAILS: "1", HOLDFAST_TEMPORAL: "" },
    /fetch-main\.js: exit code 1[\s\S]*What to do:/,
  ],
])("when %s fails, the error states what was tried and what to do", async (_name, extra, said) => {
  const { status, stderr } = setUp(extra);
  expect(status).toBe(1);
  expect(stderr).toMatch(said);
  expect(await readdir(join(root, ".holdfast"))).toEqual([]);
});

thoroughTest("two simultaneous setups do the work once", async () => {
  const runs = [1, 2, 3].map(
    () =>
      new Promise<number | null>((settle) => {
        const child = spawn(process.execPath, [join(root, "scripts", "setup.mjs")], { env: environment() });
        child.once("exit", settle);
      }),
  );
  expect(await Promise.all(runs)).toEqual([0, 0, 0]);
  expect(ran()).toEqual(["npm ci", "build"]);
});

test("the lock of a dead process is broken", async () => {
  const { pid = 0 } = spawnSync(process.execPath, ["-e", ""]);
  await write(".holdfast/setup.lock/pid", String(pid));
  expect(setUp().status).toBe(0);
  expect(ran()).toEqual(["npm ci", "build"]);
});

test("an old Node version gets a sentence, not a stack", () => {
  const pretend = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.18.3"}})';
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", pretend, join(root, "scripts", "setup.mjs")],
    { env: environment(), encoding: "utf8" },
  );
  expect(status).toBe(1);
  expect(stderr).toMatch(/Node 20\.19 or newer is needed, this is 20\.18\.3/);
  expect(stderr).not.toMatch(/ at /);
  expect(ran()).toEqual([]);
});

test("an unknown step is named", () => {
  expect(setUp({}, "everything").stderr).toContain('no step has the name "everything"');
});
