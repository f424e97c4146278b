// The lock file must not contain registry hosts: an install uses the registry that is configured where it runs. Each
// package must have a checksum, so that every install gets the same bytes from any registry.
//
// `node scripts/check-lock.mjs --complete` reads missing checksums from the registry and writes them. If the registry
// has none, it lacks that package for another platform: lock the newest version that exists for all platforms.
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
    `${named.length} packages contain a registry in "resolved"; the first is ${named[0]}.`,
    "What to do: npm install --package-lock-only --omit-lockfile-registry-resolved",
  );
}

if (complete) completeLock();

// A bundled package is part of its bundle, which has its own checksum.
const missing = entries.filter(
  ([, { integrity = "", inBundle }]) => !(inBundle || ALGORITHM.test(integrity)),
);
if (missing.length > 0) {
  faults.push(
    `${missing.length} packages have no sha512 "integrity"; the first is ${getId(missing[0])}.`,
    "What to do: node scripts/check-lock.mjs --complete",
  );
}
if (faults.length > 0) {
  for (const fault of faults) console.error(`${file}: ${fault}`);
  process.exit(1);
}

function getId([path, { version }]) {
  return `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${version}`;
}

/** Adds the registry's checksums; never changes a version. */
function completeLock() {
  let added = 0;
  for (const [path, entry] of entries) {
    if (entry.integrity !== undefined || entry.inBundle) continue;
    const id = getId([path, entry]);
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
