import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Finds a file of the build: next to this file in the package, or in `dist` when the sources run. */
export function resolveBuiltFile(name: string): string {
  const candidates = [`../${name}`, `../../dist/${name}`].map((candidate) =>
    fileURLToPath(new URL(candidate, import.meta.url)),
  );
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found === undefined)
    throw new Error(`${name} is not built (searched ${candidates.join(" and ")}). Run: npm run build`);
  return found;
}
