import { fileURLToPath } from "node:url";

/** Returns the path of a file that the build creates; when running from the sources, the one in dist. */
export function resolveBuiltFile(file: string): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../dist/" : "../";
  return fileURLToPath(new URL(`${folder}${file}`, import.meta.url));
}
