// Prepares a machine for the repository's commands: packages, build, Temporal server. Needs only Node and npm.
//
//   node scripts/setup.mjs [packages | build | server]     up to and including the named step; default: all
//
// Completed steps are skipped without output. Concurrent runs are safe.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILD_STAMP, hashSources } from "./build-stamp.mjs";

const OLDEST_NODE = [20, 19];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES_STAMP = join(root, "node_modules", ".holdfast-setup");

/** The longest wait for a concurrent setup. An install on a slow connection takes minutes. */
const LOCK_WAIT_MS = 20 * 60_000;
/** A lock without an owner's file is being created; after this time, its creator must have died. */
const INCOMPLETE_LOCK_MS = 2_000;

const STEPS = [
  { name: "packages", ready: arePackagesReady, make: installPackages },
  { name: "build", ready: isBuildReady, make: build },
  { name: "server", ready: isServerReady, make: fetchServer },
];

class SetupError extends Error {}

try {
  checkNode();
  const last = process.argv[2] ?? "server";
  const until = STEPS.findIndex((step) => step.name === last);
  if (until < 0)
    throw new SetupError(
      `no step has the name "${last}"; the steps are ${STEPS.map((s) => s.name).join(", ")}`,
    );
  const steps = STEPS.slice(0, until + 1);
  if (!steps.every((step) => step.ready())) {
    withLock(join(root, ".holdfast", "setup.lock"), () => {
      for (const step of steps) if (!step.ready()) step.make();
    });
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\nsetup failed: ${error.message}`);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new SetupError(
    `Node ${OLDEST_NODE.join(".")} or newer is needed, this is ${process.versions.node} (${process.execPath}).\n` +
      "What to do: install a newer Node and run the command again.",
  );
}

// --- packages ---------------------------------------------------------------------------------------------------

/** The native packages use Node-API, which is stable across Node versions, so the hash excludes the Node version. */
function hashPackages() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return createHash("sha256").update(lock).update(`${process.platform}-${process.arch}`).digest("hex");
}

function arePackagesReady() {
  const hash = hashPackages();
  if (readFileOr(PACKAGES_STAMP, "") === hash) return true;
  if (!isInstalledAsLocked()) return false;
  writeFileSync(PACKAGES_STAMP, hash);
  return true;
}

/** npm records what it installed; packages that you installed from the same lock file need no second install. */
function isInstalledAsLocked() {
  const installed = readJson(join(root, "node_modules", ".package-lock.json"))?.packages;
  const locked = readJson(join(root, "package-lock.json"))?.packages;
  if (installed === undefined || locked === undefined) return false;
  const isSameFile = (path) =>
    installed[path]?.version === locked[path].version && existsSync(join(root, path, "package.json"));
  return (
    Object.keys(installed).every((path) => path in locked) &&
    Object.keys(locked).every(
      (path) => path === "" || (locked[path].optional && !(path in installed)) || isSameFile(path),
    )
  );
}

function installPackages() {
  const folder = join(root, "node_modules");
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SetupError(
      `the packages of package-lock.json are to be installed, but ${folder} is a link to ${readlinkSync(folder)}, ` +
        "and npm ci would empty that folder.\nWhat to do: remove the link, and run the command again.",
    );
  }
  say("installing packages from package-lock.json (npm ci)");
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const byNpm = npm !== undefined && /npm-cli\.c?js$/.test(npm);
  const [command, ...first] = byNpm ? [process.execPath, npm] : ["npm"];
  run(command, [...first, ...args], {
    tried: "npm ci",
    todo: "check that npm reaches its registry (npm ping), then run the command again",
  });
  if (!isInstalledAsLocked()) {
    throw new SetupError(
      "npm ci succeeded, but node_modules does not match package-lock.json. What to do: remove node_modules and run this again.",
    );
  }
  writeFileSync(PACKAGES_STAMP, hashPackages());
}

// --- build ------------------------------------------------------------------------------------------------------

function isBuildReady() {
  return readFileOr(join(root, BUILD_STAMP), "") === hashSources(root);
}

function build() {
  say("building dist");
  run(process.execPath, [join(root, "scripts", "build.mjs")], {
    tried: "node scripts/build.mjs",
    todo: "fix the errors of the compiler or the bundler above",
  });
}

// --- Temporal server --------------------------------------------------------------------------------------------

/** The module that finds or downloads the server; the check here only avoids starting it. */
function isServerReady() {
  if (process.env.HOLDFAST_TEMPORAL) return true;
  const pin = readFileOr(join(root, "dist", "devserver", "inspect-binary.js"), "");
  const version = /CLI_VERSION = "([^"]+)"/.exec(pin)?.[1];
  const cache = process.env.HOLDFAST_CACHE || join(homedir(), ".cache", "holdfast");
  return version !== undefined && existsSync(join(cache, `temporal-${version}`));
}

function fetchServer() {
  run(process.execPath, [join(root, "dist", "devserver", "fetch-main.js")], {
    tried: "node dist/devserver/fetch-main.js",
    todo: "see the output above",
  });
}

// --- machinery --------------------------------------------------------------------------------------------------

function run(command, args, { tried, todo }) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  const reason = error?.message ?? (signal === null ? `exit code ${status}` : `ended by ${signal}`);
  throw new SetupError(`${tried}: ${reason}.\nWhat to do: ${todo}.`);
}

function withLock(lock, work) {
  mkdirSync(dirname(lock), { recursive: true });
  const until = Date.now() + LOCK_WAIT_MS;
  let isReported = false;
  while (!takeLock(lock)) {
    const owner = Number(readFileOr(join(lock, "pid"), ""));
    if (isStale(lock)) breakLock(lock);
    else if (Date.now() > until)
      throw new SetupError(
        `process ${owner} holds the lock ${lock}. What to do: wait for that process, or end it.`,
      );
    else {
      if (!isReported) say(`waiting for another setup (process ${owner})`);
      isReported = true;
      sleep(100);
    }
  }
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function takeLock(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw new SetupError(`the lock ${lock} cannot be created: ${error.message}`);
  }
  writeFileSync(join(lock, "pid"), String(process.pid));
  return true;
}

function isStale(lock) {
  const owner = Number(readFileOr(join(lock, "pid"), ""));
  if (owner > 0) return !isAlive(owner);
  const made = statSync(lock, { throwIfNoEntry: false });
  return made !== undefined && Date.now() - made.mtimeMs > INCOMPLETE_LOCK_MS;
}

/** Moves the lock away before removing it: removing it in place could remove another process's new lock. */
function breakLock(lock) {
  const aside = `${lock}.broken-${process.pid}`;
  try {
    renameSync(lock, aside);
    if (!isStale(aside)) return renameSync(aside, lock);
  } catch {
    return;
  }
  rmSync(aside, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function say(line) {
  console.error(`set-up: ${line}`);
}

function readFileOr(file, otherwise) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return otherwise;
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
