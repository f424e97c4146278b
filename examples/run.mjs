// Runs every example of this folder in order, with the scripted model: `npm run examples`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = new URL(".", import.meta.url);
const names = readdirSync(here, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

let failed = 0;
for (const name of names) {
  console.log(`\n=== ${name}`);
  const main = fileURLToPath(new URL(`${name}/main.mjs`, here));
  const { status } = spawnSync(process.execPath, [main], { stdio: "inherit" });
  if (status !== 0) failed += 1;
}
console.log(`\n${names.length - failed} of ${names.length} examples as promised`);
process.exit(failed === 0 ? 0 : 1);
