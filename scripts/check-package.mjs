// Packs the package, installs it into an empty folder as a user would, compiles the programs of `examples/first-programs` there
// with all declaration files checked, and runs the README's example.
//
// The README marks its first runnable block:
//
//   <!-- example: run -->
//   ```ts
//
// The block runs unchanged against a Temporal server and a scripted model that this script starts. The environment has the
// variables that it needs: TEMPORAL_ADDRESS, and those of `scripts/example-environment.mjs`.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BUNDLES } from "./bundled-packages.mjs";
import {
  buildBillOfMaterials,
  buildProvenance,
  listProductionPackages,
  normalizePurl,
  readSourceState,
} from "./sbom.mjs";

/** The time limit of the example: it performs a whole small run, and its worker may start slowly. */
const EXAMPLE_TIMEOUT_MS = 120_000;
const PROGRAMS = "examples/first-programs";
/**
 * Errors in declaration files of other packages, which a user sees too who sets both options. Each must occur: one that a
 * new release has mended is to be removed here and in the README of the programs.
 */
const KNOWN_ERRORS = {
  exactOptionalPropertyTypes: [/^node_modules\/@temporalio\/client\/lib\/schedule-client\.d\.ts\(.*TS2344/],
};
/** Packages that only bundles use, an optional peer, and one that newer versions of memfs need: an install must not fetch them. */
const NOT_INSTALLED = [
  "@apidevtools/json-schema-ref-parser",
  "@aws-sdk/credential-provider-node",
  "@jsonjoy.com/fs-core",
  "@mariozechner/pi-tui",
  "@smithy/core",
  "diff",
  "google-auth-library",
  "js-yaml",
  "jsonrepair",
  "koffi",
  "libsql",
];
/** The maximum of `du -sm node_modules` after an install. Temporal's packages alone are 248, and zod 8. */
const MAX_INSTALLED_MIB = 310;
/** The unit of `blocks` in the result of `stat`, on every file system. */
const BLOCK_BYTES = 512;
const MARKER = /<!--\s*example: run\s*-->\s*```(?:ts|typescript)[^\n]*\n([\s\S]*?)\n```/;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));

class PackageError extends Error {}

try {
  const example = readExample();
  const archive = pack();
  checkProvenance(archive);
  install(archive);
  checkHelp();
  checkExports();
  checkBundles();
  checkInstalledSize();
  checkTypes();
  await runExample(example);
  console.log("package: help, entry points, types and the README's example work in an empty folder");
} catch (error) {
  if (!(error instanceof PackageError)) throw error;
  console.error(`package: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function readExample() {
  const file = join(root, "README.md");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const example = MARKER.exec(text)?.[1];
  if (example === undefined) {
    throw new PackageError("README.md marks no example: put <!-- example: run --> before a ```ts block");
  }
  return example;
}

function pack() {
  run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], root);
  const name = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new PackageError("npm pack created no archive");
  return join(folder, name);
}

/** Checks that the bill of materials contains every installed package, and that the statement is about this archive. */
function checkProvenance(archive) {
  const named = new Set(buildBillOfMaterials().components.map(({ purl }) => normalizePurl(purl)));
  const missing = listProductionPackages().filter((purl) => !named.has(purl));
  if (missing.length > 0) {
    throw new PackageError(
      `the bill of materials lacks ${missing.length} packages, the first is ${missing[0]}`,
    );
  }
  const now = new Date().toISOString();
  const { subject } = buildProvenance(archive, { ...readSourceState(), startedOn: now, finishedOn: now });
  const sha512 = createHash("sha512").update(readFileSync(archive)).digest("hex");
  if (subject[0].digest.sha512 !== sha512)
    throw new PackageError("the provenance statement is about another archive");
}

function install(archive) {
  mkdirSync(join(folder, "app"));
  writeFileSync(
    join(folder, "app", "package.json"),
    JSON.stringify({ name: "app", private: true, type: "module" }),
  );
  // The types of Node are part of every TypeScript project.
  const { devDependencies } = readManifest();
  const nodeTypes = `@types/node@${devDependencies["@types/node"]}`;
  run(
    "npm",
    ["install", "--no-audit", "--no-fund", "--loglevel=error", archive, nodeTypes],
    join(folder, "app"),
  );
}

function checkHelp() {
  const helpText = run("npx", ["--no-install", "holdfast", "--help"], join(folder, "app"));
  if (!/usage/i.test(helpText)) throw new PackageError(`holdfast --help prints no usage:\n${helpText}`);
}

/** Checks that every entry point of the export map can be imported. */
function checkExports() {
  for (const name of listEntryPoints()) {
    // Workflow code runs only in Temporal's sandbox, so its entry point only has to exist.
    if (name === "holdfast/workflows") continue;
    run(
      process.execPath,
      ["--input-type=module", "-e", `await import(${JSON.stringify(name)})`],
      join(folder, "app"),
    );
  }
}

/** Checks that the bundled libraries are in the package and load, and that `NOT_INSTALLED` is not installed. */
function checkBundles() {
  const app = join(folder, "app");
  const installed = NOT_INSTALLED.filter((name) => existsSync(join(app, "node_modules", name)));
  if (installed.length > 0)
    throw new PackageError(`the install contains packages that it should not: ${installed}`);
  for (const name of Object.keys(BUNDLES)) {
    const url = pathToFileURL(join(app, "node_modules", "holdfast", "dist", `${name}.js`)).href;
    run(process.execPath, ["--input-type=module", "-e", `await import(${JSON.stringify(url)})`], app);
  }
}

/** Checks what `du -sm` reports of the installed packages: the blocks of all files, folders and links, each inode once. */
function checkInstalledSize() {
  const modules = join(folder, "app", "node_modules");
  const inodes = new Map();
  const paths = readdirSync(modules, { recursive: true }).map((name) => join(modules, name));
  for (const path of [modules, ...paths]) {
    const { ino, blocks } = lstatSync(path);
    inodes.set(ino, blocks * BLOCK_BYTES);
  }
  const bytes = [...inodes.values()].reduce((sum, size) => sum + size, 0);
  const mib = Math.ceil(bytes / 1024 / 1024);
  console.log(`package: installed, ${mib} MiB on disk (${bytes} bytes)`);
  if (mib > MAX_INSTALLED_MIB)
    throw new PackageError(`an install has ${mib} MiB on disk, more than ${MAX_INSTALLED_MIB}`);
}

function readManifest() {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

/** Returns the names by which modules are imported: `holdfast`, `holdfast/worker` and so on. */
function listEntryPoints() {
  return Object.keys(readManifest().exports).flatMap((door) =>
    door.endsWith(".json") ? [] : [`holdfast${door.slice(1)}`],
  );
}

/** Compiles the programs and an import of every entry point, with and without `exactOptionalPropertyTypes`. */
function checkTypes() {
  const app = join(folder, "app");
  const programs = join(root, PROGRAMS);
  for (const file of readdirSync(programs)) {
    if (file.endsWith(".ts") || file === "tsconfig.json") copyFileSync(join(programs, file), join(app, file));
  }
  const imports = listEntryPoints().map((name, nth) => `import * as entry${nth} from "${name}";`);
  const uses = listEntryPoints().map((_, nth) => `entry${nth}`);
  writeFileSync(join(app, "entry-points.ts"), [...imports, `export default [${uses}];`, ""].join("\n"));
  compile(app, false, []);
  compile(app, true, KNOWN_ERRORS.exactOptionalPropertyTypes);
}

function compile(app, exact, known) {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const options = ["--noEmit", "--pretty", "false", "--exactOptionalPropertyTypes", String(exact)];
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, "-p", ".", ...options], {
    cwd: app,
    encoding: "utf8",
  });
  // The lines of an error after its first one are indented.
  const errors = stdout.split("\n").filter((line) => /^\S/.test(line));
  const unknown = errors.filter((line) => !known.some((pattern) => pattern.test(line)));
  const mended = known.filter((pattern) => !errors.some((line) => pattern.test(line)));
  const setting = `with exactOptionalPropertyTypes ${exact ? "on" : "off"}`;
  if (status !== 0 && errors.length === 0)
    throw new PackageError(`the compiler failed ${setting}: ${stderr}`);
  if (unknown.length > 0)
    throw new PackageError(`the types do not compile ${setting}:\n${unknown.join("\n")}`);
  if (mended.length > 0)
    throw new PackageError(
      `an error that is listed as known does not occur ${setting}: ${mended.join(", ")}`,
    );
}

async function runExample(example) {
  const app = join(folder, "app");
  const { outputText } = await transpile(example);
  writeFileSync(join(app, "example.ts"), example);
  writeFileSync(join(app, "example.mjs"), outputText);
  const { startDevServer } = await import(
    pathToFileURL(join(root, "dist", "devserver", "start-server.js")).href
  );
  const server = await startDevServer({ ephemeral: true });
  try {
    const extra = await buildExampleEnvironment(app, server);
    try {
      const env = {
        ...process.env,
        TEMPORAL_ADDRESS: server.address,
        TEMPORAL_NAMESPACE: server.namespace,
        HOLDFAST_HOME: join(app, ".holdfast"),
        ...extra.env,
      };
      const output = await runAlongside(process.execPath, ["example.mjs"], app, env);
      if (output.trim() === "") throw new PackageError("the README's example prints nothing");
      console.log(`package: the example printed:\n${output.trim().replace(/^/gm, "  ")}`);
    } finally {
      await extra.stop();
    }
  } finally {
    await server.stop();
  }
}

/** Provides the vendor that the example needs, here a scripted model. */
async function buildExampleEnvironment(app, server) {
  const file = join(root, "scripts", "example-environment.mjs");
  if (!existsSync(file)) return { env: {}, stop: async () => {} };
  const { createExampleEnvironment } = await import(pathToFileURL(file).href);
  return createExampleEnvironment({ app, address: server.address, namespace: server.namespace });
}

async function transpile(source) {
  const { default: ts } = await import("typescript");
  return ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
}

/** Runs a program without blocking this process, in which the scripted model may run. */
async function runAlongside(command, args, cwd, env) {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env, timeout: EXAMPLE_TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new PackageError(`the README's example failed: ${error.message}\n${stdout}${stderr}`));
    });
  });
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  const reason = error?.message ?? `exit code ${status}\n${stdout}${stderr}`;
  throw new PackageError(`${command} ${args.join(" ")}: ${reason}`);
}
