// The lock file must name no registry host: an install uses the registry configured where it runs.
import { readFileSync } from "node:fs";

const file = process.argv[2] ?? "package-lock.json";
const { packages } = JSON.parse(readFileSync(file, "utf8"));
const named = Object.entries(packages)
  .filter(([, entry]) => /^[a-z+]+:\/\//.test(entry.resolved ?? ""))
  .map(([path]) => path);
if (named.length > 0) {
  console.error(`${file}: ${named.length} packages name a registry in "resolved", the first is ${named[0]}.`);
  console.error("What to do: npm install --package-lock-only --omit-lockfile-registry-resolved");
  process.exit(1);
}
