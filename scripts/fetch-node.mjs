// Downloads binaries of other Node versions from npm.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const cache = process.env.HOLDFAST_CACHE || join(homedir(), ".cache", "holdfast");

/** Returns the path of the binary, from the cache or from npm. */
export function fetchNode(version) {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const folder = join(cache, `node-${version}`);
  const binary = join(
    folder,
    "node_modules",
    name,
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  if (existsSync(binary)) return binary;
  console.log(`fetching ${name}@${version}`);
  mkdirSync(folder, { recursive: true });
  const install = [
    "install",
    "--prefix",
    folder,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const { status } = spawnSync("npm", [...install, `${name}@${version}`], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
  });
  return status === 0 && existsSync(binary) ? binary : undefined;
}
