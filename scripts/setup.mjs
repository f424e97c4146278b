// Brings a bare machine to where a command can run: packages, build, Temporal server. Needs Node and npm only.
//
//   node scripts/setup.mjs [packages | build | server]     up to and including the named step; default: all
//
// What is there already is skipped without a word. Safe to run twice at once.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILD_STAMP, hashSources } from "./build-stamp.mjs";

const OLDEST_NODE = [20, 19];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES_STAMP = join(root, "node_modules", ".holdfast-setup");

/** An install on a slow line takes minutes; nobody waits longer than this for another set-up. */
const LOCK_WAIT_MS = 20 * 60_000;
/** A lock without an owner's file is one being made; after this long its maker must have died. */
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
    throw new SetupError(`no step is called "${last}"; there are ${STEPS.map((s) => s.name).join(", ")}`);
  const steps = STEPS.slice(0, until + 1);
  if (!steps.every((step) => step.ready())) {
    withLock(join(root, ".holdfast", "setup.lock"), () => {
      for (const step of steps) if (!step.ready()) step.make();
    });
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\nset-up failed: ${error.message}`);
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

/** Native packages here speak Node-API, which is stable across Node versions, so the Node version is not part of it. */
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

/** npm notes what it installed; packages installed by hand from the same lock file need no second install. */
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
    throw new SetupError("npm ci ended well, but node_modules does not match package-lock.json.");
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
    todo: "mend what the compiler or the bundler says above",
  });
}

// --- Temporal server --------------------------------------------------------------------------------------------

/** The module that finds and fetches the server; the quick look here only saves starting it. */
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
    todo: "see above",
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
      throw new SetupError(`process ${owner} holds ${lock}. What to do: wait, or end it.`);
    else {
      if (!isReported) say(`waiting for another set-up (process ${owner})`);
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
    throw new SetupError(`${lock} cannot be made: ${error.message}`);
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

/** Moves the lock away before removing it: in place, a quicker process's new lock could be removed. */
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
