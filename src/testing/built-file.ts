import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of the build: beside this one in the package, in `dist` when the sources themselves run. */
export function builtFile(name: string): string {
  const places = [`../${name}`, `../../dist/${name}`].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const found = places.find((place) => existsSync(place));
  if (found === undefined)
    throw new Error(`${name} is not built (looked at ${places.join(" and ")}): npm run build`);
  return found;
}
