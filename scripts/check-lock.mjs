// The lock file must name no registry host: an install uses the registry configured where it runs. And each of its
// packages must have a checksum, so that every install gets the same bytes, whatever registry they come from.
//
// `node scripts/check-lock.mjs --complete` asks the registry for checksums that are missing and writes them in. Where it
// has none, the registry lacks that build for another platform: lock the newest version that it has for all of them.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const ALGORITHM = /^sha512-[A-Za-z0-9+/]{86}==(?: |$)/;

const args = process.argv.slice(2);
const complete = args.includes("--complete");
const file = args.find((arg) => !arg.startsWith("--")) ?? "package-lock.json";
const lock = JSON.parse(readFileSync(file, "utf8"));
const entries = Object.entries(lock.packages).filter(([path, entry]) => path !== "" && entry.link !== true);
const faults = [];

const named = entries.filter(([, entry]) => /^[a-z+]+:\/\//.test(entry.resolved ?? "")).map(([path]) => path);
if (named.length > 0) {
  faults.push(
    `${named.length} packages name a registry in "resolved", the first is ${named[0]}.`,
    "What to do: npm install --package-lock-only --omit-lockfile-registry-resolved",
  );
}

if (complete) completeLock();

// A bundled package comes in its bundle, which has a checksum of its own.
const missing = entries.filter(
  ([, { integrity = "", inBundle }]) => !(inBundle || ALGORITHM.test(integrity)),
);
if (missing.length > 0) {
  faults.push(
    `${missing.length} packages have no sha512 "integrity", the first is ${idOf(missing[0])}.`,
    "What to do: node scripts/check-lock.mjs --complete",
  );
}
if (faults.length > 0) {
  for (const fault of faults) console.error(`${file}: ${fault}`);
  process.exit(1);
}

function idOf([path, { version }]) {
  return `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${version}`;
}

/** Adds what the registry says; a version is never changed. */
function completeLock() {
  let added = 0;
  for (const [path, entry] of entries) {
    if (entry.integrity !== undefined || entry.inBundle) continue;
    const id = idOf([path, entry]);
    const { status, stdout } = spawnSync("npm", ["view", id, "dist.integrity"], { encoding: "utf8" });
    const integrity = stdout.trim();
    if (status !== 0 || !ALGORITHM.test(integrity)) {
      console.error(`${file}: the registry has no checksum of ${id}`);
      continue;
    }
    const { version, ...rest } = entry;
    for (const key of Object.keys(entry)) delete entry[key];
    Object.assign(entry, { version, integrity }, rest);
    added += 1;
  }
  if (added > 0) writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
  console.error(`${file}: ${added} checksums added`);
}
