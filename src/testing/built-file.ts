import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of the build: beside this one in the package, in `dist` when the sources themselves run. */
export function resolveBuiltFile(name: string): string {
  const candidates = [`../${name}`, `../../dist/${name}`].map((candidate) =>
    fileURLToPath(new URL(candidate, import.meta.url)),
  );
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found === undefined)
    throw new Error(`${name} is not built (looked at ${candidates.join(" and ")}): npm run build`);
  return found;
}
