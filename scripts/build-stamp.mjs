import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** The file to which the build writes the hash of its sources. */
export const BUILD_STAMP = join("dist", ".build-stamp");

const BUILD_INPUTS = [
  "tsconfig.json",
  "tsconfig.build.json",
  "package-lock.json",
  join("scripts", "remove-blanks.mjs"),
  join("scripts", "build.mjs"),
  join("scripts", "bundled-packages.json"),
  join("scripts", "bundled-packages.mjs"),
  join("scripts", "declarations.mjs"),
];

/** Hashes everything that the build reads: contents, not times, so that switching branches and back needs no build. */
export function hashSources(root) {
  const hash = createHash("sha256");
  for (const file of [...BUILD_INPUTS, ...listSourceFiles(root)]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

/** Lists every file below src, sorted. */
export function listSourceFiles(root) {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + sep.length))
    .sort();
}
